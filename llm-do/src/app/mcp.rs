//! MCP, the Model Context Protocol, both ways: serves what is linked, and uses the tools of servers.
//!
//! Source: <https://modelcontextprotocol.io/specification/2026-07-28>.

mod client;
mod serve;
mod snapshot;

pub use self::serve::{
    ClientRequest, HttpOptions, McpClient, McpHttpService, McpService, MissingCapability, ServeError,
};
#[doc = include_str!("../../docs/typed_toolsets.md")]
pub use self::snapshot::Snapshot;
#[doc(hidden)]
pub use self::snapshot::snapshot_definition;
#[doc(inline)]
pub use self::snapshot::{Changes, SnapshotError, SnapshotTool, check_snapshots};
