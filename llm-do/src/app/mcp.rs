//! MCP, the Model Context Protocol, both ways: serves what is linked, and uses the tools of servers.
//!
//! Source: <https://modelcontextprotocol.io/specification/2026-07-28>.

mod client;
mod serve;
mod snapshot;

pub use self::serve::{
    ClientRequest, HttpOptions, McpClient, McpHttpService, McpService, MissingCapability, ServeError,
};
