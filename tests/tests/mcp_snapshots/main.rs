//! Typed toolsets of MCP servers, and comparisons of servers with their snapshots.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod changes;
mod properties;
mod runtime;
mod text;
