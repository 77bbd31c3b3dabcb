//! MCP servers in the files of a project: `.mcp.json`, and the front matter of workers.

mod of_worker;
mod program;
mod server;
#[cfg(feature = "mcp")]
mod start;
mod variable;

use std::path::Path;

use llm_do_worker_file::{Content, Fault, Key, McpTransport, Node, did_you_mean, read_mcp_server};

pub use self::server::ServerFile;
#[cfg(feature = "mcp")]
pub use self::start::LogIn;
use super::{Report, front_matter, json};

const SERVERS: &str = "mcpServers";

/// The prefix of the names of all toolsets of servers.
const ALL: &str = "mcp__";
/// The maximum number of servers in one file.
const MAX_SERVERS: usize = 100;

/// Reads a `.mcp.json`. A faulty server is omitted; if the file cannot be read, all servers are.
pub(super) fn read(path: &Path, root: &Path, report: &mut Report) -> Vec<ServerFile> {
    let entries = match report.foreign(|report| entries(path, report)) {
        Ok(entries) => entries,
        Err(reason) => {
            report.leave_out([ALL.to_owned()], reason);
            return Vec::new();
        }
    };
    if let Some((key, _)) = entries.get(MAX_SERVERS) {
        let text = format!("the project has too many servers: the limit is {MAX_SERVERS}; those after it are left out");
        report.warning(path, key.place, &text);
        let names = entries[MAX_SERVERS..].iter().map(|(key, _)| ServerFile::toolset_of(&key.name));
        report.leave_out(names, text);
    }
    let servers = entries.into_iter().take(MAX_SERVERS);
    servers.filter_map(|(key, node)| server(path, &key, node, root, report)).collect()
}

/// Returns the definitions of a file.
fn entries(path: &Path, report: &mut Report) -> Vec<(Key, Node)> {
    let Some(text) = report.text_of(path) else { return Vec::new() };
    let (mut faults, mut notes, mut servers) = (Vec::new(), Vec::new(), Vec::new());
    match json::read(&text, &mut notes).map(|root| (root.place, root.content)) {
        // The file is not JSON.
        None => faults.append(&mut notes),
        Some((place, Content::Map(entries))) => {
            if !entries.iter().any(|(key, _)| key.name == SERVERS) {
                faults.push(Fault::new(place, format!("missing `{SERVERS}`: a map of servers by name")));
            }
            for (key, node) in entries {
                match node.content {
                    Content::Map(map) if key.name == SERVERS => servers = map,
                    other if key.name == SERVERS => {
                        let message = format!("`{SERVERS}`: expected a map, found {}", other.kind());
                        faults.push(Fault::new(node.place, message));
                    }
                    _ => {
                        let hint = did_you_mean(&key.name, [SERVERS]);
                        let text = format!("unknown key `{}` has no effect here{hint}", key.name);
                        notes.push(Fault::new(key.place, text));
                    }
                }
            }
        }
        Some((place, other)) => {
            faults.push(Fault::new(place, format!("expected a map of keys, found {}", other.kind())));
        }
    }
    report.faults(path, faults);
    front_matter::warn(path, notes, report);
    servers
}

/// Reads a server, or omits it.
fn server(path: &Path, key: &Key, node: Node, root: &Path, report: &mut Report) -> Option<ServerFile> {
    let read = report.foreign(|report| {
        let (mut faults, mut notes) = (Vec::new(), Vec::new());
        let server = read_mcp_server(SERVERS, key, node, &mut faults, &mut notes);
        report.faults(path, faults);
        front_matter::warn(path, notes, report);
        Some(ServerFile::read(server?, path, root, report))
    });
    let reason = match read {
        Ok(Some(server)) => match &server.server.transport {
            McpTransport::Disabled => return report.switch_off([server.toolset()], server.place()),
            McpTransport::Unsupported { kind } => format!("{}: the type `{kind}` is not supported", server.place()),
            McpTransport::Command { .. } | McpTransport::Http { .. } => return Some(server),
        },
        Ok(None) => return None,
        Err(reason) => reason,
    };
    report.leave_out([ServerFile::toolset_of(&key.name)], reason);
    None
}
