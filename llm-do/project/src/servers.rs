//! The servers in the files of a project, of which its user may be unaware.

use llm_do_core::plane::registry::is_of;
use llm_do_core::session::runtime::RuntimeBuilder;
#[cfg(feature = "mcp")]
use llm_do_mcp::{TokenStore, WithMcp};

use super::Project;
use super::mcp::ServerFile;

impl Project {
    /// Returns the MCP servers in its files, each with the file and line and with the program or the URL.
    ///
    /// Building a runtime with the project starts these programs and connects to these URLs. If the user did not write the
    /// project, show them to the user, or drop them with [`without_servers`](Self::without_servers).
    #[must_use]
    pub fn servers(&self) -> Vec<String> {
        self.servers.iter().map(ToString::to_string).collect()
    }

    /// Drops its MCP servers: they are not started, and its workers do not have their tools.
    #[must_use]
    pub fn without_servers(mut self) -> Self {
        let servers = std::mem::take(&mut self.servers);
        self.inactive.extend(servers.iter().map(ServerFile::toolset));
        self
    }

    /// Sets the store of their tokens.
    #[cfg(feature = "mcp")]
    #[doc(hidden)]
    #[must_use]
    pub fn with_tokens(mut self, tokens: Option<TokenStore>) -> Self {
        self.tokens = tokens;
        self
    }

    /// Lists its servers.
    #[doc(hidden)]
    #[must_use]
    pub fn server_files(&self) -> &[ServerFile] {
        &self.servers
    }

    /// Removes the tools of servers that are not started from its workers.
    pub(super) fn without_inactive_tools(mut self) -> Self {
        let inactive = std::mem::take(&mut self.inactive);
        let is_inactive = |tool: &str| inactive.iter().any(|set| is_of(tool, set));
        for (spec, _) in &mut self.workers {
            spec.toolsets.retain(|tool| !is_inactive(tool));
        }
        self
    }
}

/// Adds the servers of a project.
#[cfg(feature = "mcp")]
pub(super) fn add(builder: RuntimeBuilder, servers: &[ServerFile]) -> RuntimeBuilder {
    servers.iter().fold(builder, |builder, file| builder.mcp_of_file(file.server(), file.origin()))
}

/// Without the feature `mcp`, no server is started.
#[cfg(not(feature = "mcp"))]
pub(super) fn add(builder: RuntimeBuilder, _: &[ServerFile]) -> RuntimeBuilder {
    builder
}
