//! MCP, the Model Context Protocol, in both directions: serves linked items, and uses the tools of servers.
//!
//! Source: <https://modelcontextprotocol.io/specification/2026-07-28>.

#[cfg(feature = "mcp")]
mod client;
#[cfg(feature = "mcp")]
mod serve;
mod snapshot;

#[cfg(feature = "mcp")]
pub use self::client::{Authorizer, McpConnection, McpError, McpServer, McpTools, OAuth, reaper_process};
#[cfg(feature = "mcp")]
pub use self::client::{TokenStore, is_login_answer, login_state};
#[cfg(feature = "mcp")]
pub use self::serve::{
    ClientRequest, HttpOptions, McpClient, McpHttpService, McpService, MissingCapability, ServeError,
};
#[doc = include_str!("../../docs/typed_toolsets.md")]
pub use self::snapshot::Snapshot;
#[cfg(feature = "mcp")]
pub use self::snapshot::linked_servers;
#[doc(hidden)]
pub use self::snapshot::snapshot_definition;
#[doc(inline)]
pub use self::snapshot::{Changes, SnapshotError, SnapshotTool, check_snapshots};
