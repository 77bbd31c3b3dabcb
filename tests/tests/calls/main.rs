//! The path of a call: arguments, results, errors, depth, toolsets with state, shadows.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod added_tools;
mod arguments;
mod depth;
mod errors;
mod hardening_tool;
mod json_text;
mod parity;
mod returns;
mod schema;
mod schema_limits;
mod tool_context;
mod toolsets;
