//! The servers of workers: servers of the project, and servers that a worker defines.

use std::path::Path;

use llm_do_core::declare::worker_file::ToolLines;
use llm_do_worker_file::McpServerItem;

use super::ServerFile;
use crate::{Project, Report};

impl Project {
    /// Adds the servers that a worker defines; returns the toolsets of all servers that it lists, each with its line.
    ///
    /// `listed` are the names of the servers in `.mcp.json`.
    pub(crate) fn servers_of(
        &mut self,
        (path, key): (&Path, &str),
        items: Vec<McpServerItem>,
        listed: &[String],
        report: &mut Report,
    ) -> ToolLines {
        let mut toolsets = Vec::new();
        for item in items {
            let line = item.name().place.line;
            match item {
                McpServerItem::Named(name) if listed.contains(&name.value) => {
                    toolsets.push((ServerFile::toolset_of(&name.value), line));
                }
                McpServerItem::Named(name) => {
                    let hint = unknown_server(&name.value, listed, report);
                    report.fault(path, name.place, format!("`{key}`: unknown MCP server `{}`{hint}", name.value));
                }
                McpServerItem::Inline(server) => {
                    let (name, root) = (server.name.clone(), self.root.clone());
                    let server = ServerFile::read(server, path, &root, report);
                    if server.is_disabled() {
                        continue;
                    }
                    toolsets.push((server.toolset(), line));
                    if let Some(first) = self.known_servers.iter().find(|known| known.name() == name.value) {
                        if !first.is_like(&server) {
                            let text = format!(
                                "`{key}`: another MCP server `{}` is defined in {}; choose another name",
                                name.value,
                                first.place()
                            );
                            report.fault(path, name.place, text);
                        }
                    } else {
                        self.add_servers(vec![server], report);
                    }
                }
            }
        }
        toolsets
    }

    /// Adds servers; those that cannot be started are named in a warning.
    pub(crate) fn add_servers(&mut self, servers: Vec<ServerFile>, report: &mut Report) {
        self.known_servers.extend(servers.iter().cloned());
        let (usable, unusable): (Vec<_>, Vec<_>) = servers.into_iter().partition(ServerFile::is_usable);
        self.warn_of_unusable(&unusable, report);
        self.inactive.extend(unusable.iter().map(ServerFile::toolset));
        self.servers.extend(usable);
    }

    #[cfg(not(feature = "mcp"))]
    #[expect(clippy::unused_self, reason = "as with the feature `mcp`")]
    fn warn_of_unusable(&self, unusable: &[ServerFile], report: &mut Report) {
        if let Some(first) = unusable.first() {
            let names: Vec<_> = unusable.iter().map(|server| format!("`{}`", server.name())).collect();
            let message = "the program is built without the feature `mcp`, so these MCP servers are ignored";
            report.warnings.push(format!("{}: {message}: {}", first.place(), names.join(", ")));
        }
    }

    /// With the feature, an unusable server already has a warning.
    #[cfg(feature = "mcp")]
    #[expect(clippy::unused_self, reason = "as without the feature `mcp`")]
    fn warn_of_unusable(&self, _: &[ServerFile], _: &mut Report) {}
}

/// Returns the reason that a server of `.mcp.json` is unknown.
fn unknown_server(name: &str, listed: &[String], report: &Report) -> String {
    let why = report.why_left_out(&ServerFile::toolset_of(name)).or_else(|| report.why_left_out(super::ALL));
    why.unwrap_or_else(|| {
        let known: Vec<_> = listed.iter().map(String::as_str).collect();
        match report.hint(name, &known, "`.mcp.json` has ") {
            none if none.is_empty() => "; the project has no servers in `.mcp.json`".to_owned(),
            hint => hint,
        }
    })
}
