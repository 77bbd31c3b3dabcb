//! The path of a call: arguments, schemas, results, errors, depth, toolsets.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod added_tools;
mod arguments;
mod depth;
mod doc_links;
mod errors;
mod hardening_tool;
mod json_text;
mod parity;
mod returns;
mod schema;
mod schema_limits;
mod tool_context;
mod toolsets;
