//! MCP servers that the files of a project name: `.mcp.json`, and the front matter of workers.

mod of_worker;
mod program;
mod server;
#[cfg(feature = "mcp")]
mod start;
mod variable;

use std::path::Path;

use llm_do_worker_file::{Content, Fault, did_you_mean, read_mcp_servers};

pub(crate) use self::server::ServerFile;
#[cfg(all(feature = "cli", feature = "mcp"))]
pub(crate) use self::start::LogIn;
use super::{Report, json};

const SERVERS: &str = "mcpServers";

/// Reads a `.mcp.json`.
pub(super) fn read(path: &Path, root: &Path, report: &mut Report) -> Vec<ServerFile> {
    let Some(text) = report.text_of(path) else { return Vec::new() };
    let (mut faults, mut notes, mut servers) = (Vec::new(), Vec::new(), Vec::new());
    match json::read(&text, &mut faults).map(|root| (root.place, root.content)) {
        None => {}
        Some((place, Content::Map(entries))) => {
            if !entries.iter().any(|(key, _)| key.name == SERVERS) {
                faults.push(Fault::new(place, format!("missing `{SERVERS}`: a map of servers by name")));
            }
            for (key, node) in entries {
                if key.name == SERVERS {
                    servers = read_mcp_servers(SERVERS, node, &mut faults, &mut notes);
                } else {
                    let hint = did_you_mean(&key.name, [SERVERS]);
                    notes.push(Fault::new(key.place, format!("unknown key `{}` has no effect here{hint}", key.name)));
                }
            }
        }
        Some((place, other)) => {
            faults.push(Fault::new(place, format!("expected a map of keys, found {}", other.kind())));
        }
    }
    report.faults(path, faults);
    for Fault { place, message } in notes {
        report.warning(path, place, message);
    }
    servers.into_iter().map(|server| ServerFile::read(server, path, root, report)).collect()
}
