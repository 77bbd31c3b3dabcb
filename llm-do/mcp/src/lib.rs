//! MCP, the Model Context Protocol, in both directions: serves linked items, and uses the tools of servers.
//!
//! Source: <https://modelcontextprotocol.io/specification/2026-07-28>.

mod client;
mod serve;

pub use self::client::{Authorizer, McpConnection, McpError, McpServer, McpTools, OAuth, WithMcp, reaper_process};
pub use self::client::{TokenStore, is_login_answer, login_state};
pub use self::serve::{
    ClientRequest, HttpOptions, McpClient, McpHttpService, McpService, MissingCapability, ServeError,
};
