//! The snapshots of MCP servers that `toolset!` registers.

use serde_json::Value;

use super::Location;
use crate::declare::toolset::Member;

/// A snapshot of the tools of an MCP server, from which `toolset!` made a typed toolset.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct SnapshotDef {
    /// The name of the server.
    pub(crate) server: &'static str,
    pub(crate) members: &'static [Member],
    /// The content of the file.
    pub(crate) text: &'static str,
    pub(crate) location: Location,
    /// Returns the differences from the tools of the runtime that are incompatible with typed calls.
    pub(crate) check: fn(&Self, &[LiveTool<'_>]) -> Vec<String>,
}

/// A tool that a server currently has.
#[derive(Clone, Debug)]
pub(crate) struct LiveTool<'a> {
    /// The registered name.
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a Value,
    pub(crate) output: Option<Value>,
}
