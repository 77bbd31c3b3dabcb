//! Typed toolsets of MCP servers, and comparisons of servers with their snapshots.

mod changes;
mod properties;
mod runtime;
mod text;
