//! A server as a source of tools for a runtime.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use llm_do_core::plane::registry::Origin;
use llm_do_core::plane::tool_source::{LoadedTools, RootCalls, ToolSource};
use llm_do_core::session::runtime::RuntimeBuilder;

use super::connection::McpConnection;
use super::server::McpServer;
use super::tool;

/// What [`WithMcp::mcp`] takes: an [`McpServer`], or an [`McpConnection`] to one.
#[derive(Clone, Debug)]
pub struct McpTools(Source);

#[derive(Clone, Debug)]
enum Source {
    Server(Box<McpServer>),
    Connection(McpConnection),
}

impl From<McpServer> for McpTools {
    fn from(server: McpServer) -> Self {
        Self(Source::Server(Box::new(server)))
    }
}

impl From<McpConnection> for McpTools {
    fn from(connection: McpConnection) -> Self {
        Self(Source::Connection(connection))
    }
}

/// Adds MCP servers to a [`RuntimeBuilder`].
pub trait WithMcp: Sized {
    /// Adds the tools of an MCP server, as the toolset `mcp__NAME` of tools `mcp__NAME__TOOL`. Default: none.
    ///
    /// [`build`](RuntimeBuilder::build) connects to all servers concurrently, and blocks its thread until each has listed its tools, at most
    /// for the longest [`connect_timeout`](McpServer::connect_timeout); a server that cannot be reached is an error. In async
    /// code, await [`McpServer::connect`] first and give its connection here: `build` then waits for nothing.
    #[must_use]
    #[track_caller]
    fn mcp(self, tools: impl Into<McpTools>) -> Self;

    /// Adds the tools of a server that a file names.
    #[doc(hidden)]
    #[must_use]
    fn mcp_of_file(self, server: McpServer, origin: Origin) -> Self;
}

impl WithMcp for RuntimeBuilder {
    fn mcp(self, tools: impl Into<McpTools>) -> Self {
        let McpTools(source) = tools.into();
        self.tool_source(Connecting { source, connection: OnceLock::new() })
    }

    fn mcp_of_file(self, server: McpServer, origin: Origin) -> Self {
        let McpTools(source) = server.into();
        self.tool_source_from(Connecting { source, connection: OnceLock::new() }, origin)
    }
}

/// A server that is connected when the runtime is built.
#[derive(Debug)]
struct Connecting {
    source: Source,
    connection: OnceLock<McpConnection>,
}

impl Connecting {
    fn server(&self) -> &McpServer {
        match &self.source {
            Source::Server(server) => server,
            Source::Connection(connection) => connection.server(),
        }
    }
}

impl ToolSource for Connecting {
    fn toolset(&self) -> String {
        self.server().toolset()
    }

    fn name(&self) -> &str {
        self.server().name()
    }

    fn is_optional(&self) -> bool {
        self.server().is_optional
    }

    fn waits_for(&self) -> Option<String> {
        let connection = self.connection.get().filter(|connection| !connection.is_ready())?;
        Some(format!("the MCP server `{}`, at most {:?}", connection.name(), self.server().connect_timeout))
    }

    fn begin(&self, root: &Path) {
        let connection = match &self.source {
            Source::Server(server) => McpConnection::open((**server).clone(), root),
            Source::Connection(connection) => connection.clone(),
        };
        connection.set_root(root);
        drop(self.connection.set(connection));
    }

    fn built(&self, calls: Arc<dyn RootCalls>) {
        if let Some(connection) = self.connection.get() {
            connection.set_calls(calls);
        }
    }

    fn load(&self) -> Result<LoadedTools, String> {
        let Some(connection) = self.connection.get() else { return Err("the connection was not started".to_owned()) };
        let list = connection.list().map_err(|error| error.to_string())?;
        Ok(tool::loaded(connection, &list))
    }
}
