//! The tools of MCP servers, as tools of a runtime.

mod body;
mod call;
mod catalog;
mod checks;
mod connection;
mod effect;
mod elicitation;
mod error;
mod exchange;
mod handler;
mod http;
mod in_flight;
mod lines;
mod live;
mod media;
mod message;
mod negotiation;
mod oauth;
mod process;
mod reaper;
mod reason;
mod request_limit;
mod result;
mod sampling;
mod server;
mod source;
mod supervisor;
mod text;
mod tool;
mod transport;
mod unanswered;

pub use self::connection::McpConnection;
pub use self::error::McpError;
pub use self::oauth::{Authorizer, OAuth};
#[cfg(feature = "project")]
pub use self::oauth::{TokenStore, is_login_answer, login_state};
pub use self::reaper::reaper_process;
pub use self::server::McpServer;
pub use self::source::McpTools;
