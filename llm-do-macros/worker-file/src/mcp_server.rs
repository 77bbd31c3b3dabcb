//! Definitions of MCP servers: in `.mcp.json`, and in the front matter of workers.
//!
//! Source: <https://code.claude.com/docs/en/mcp>, read 2026-11.

mod reading;

use self::reading::Reading;
use crate::values::Reader;
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located};

/// A server as a file describes it, before variables are replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// The name, at the place of the definition.
    pub name: Located<String>,
    /// The connection to it.
    pub transport: McpTransport,
    /// The timeout of each call, in milliseconds.
    pub timeout: Option<u64>,
    /// The model that answers requests of the server.
    pub sampling: Option<String>,
    /// Whether its tools may be missing.
    pub optional: bool,
}

/// The connection to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the files")]
pub enum McpTransport {
    /// A program.
    Command { program: String, arguments: Vec<String>, variables: Vec<(String, String)> },
    /// A URL.
    Http { url: String, headers: Vec<(String, String)>, oauth: McpOAuth },
    /// An unsupported type: the server is omitted.
    Unsupported { kind: String },
    /// A server that its file disables.
    Disabled,
}

/// The login of the user at a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpOAuth {
    /// The id of a program that is registered with the authorization server.
    pub client_id: Option<String>,
    /// The port of the redirect on this machine.
    pub callback_port: Option<u16>,
    /// The requested scopes.
    pub scopes: Vec<String>,
}

/// A server of a worker: a server of the project, or one that the worker defines.
#[derive(Clone, Debug, PartialEq)]
pub enum McpServerItem {
    /// The server of the project with this name.
    Named(Located<String>),
    /// A server that the worker defines.
    Inline(McpServer),
}

/// Reads the map of servers by name in `field`; notes are about keys and values without an effect.
fn read_mcp_servers(field: &str, node: Node, faults: &mut Vec<Fault>, notes: &mut Vec<Fault>) -> Vec<McpServer> {
    let entries = Reader { key: field, faults }.map(node).unwrap_or_default();
    let mut reading = Reading { faults, notes };
    entries.into_iter().filter_map(|(name, node)| reading.server(field, &name, node)).collect()
}

/// Reads a list of servers: names, and maps of definitions by name. The names may be separated by commas instead.
/// Returns `None` if it has faults.
#[must_use]
pub fn read_mcp_items(
    reader: &mut Reader<'_>,
    node: Node,
    notes: &mut Vec<Fault>,
) -> Option<Located<Vec<McpServerItem>>> {
    let (place, known) = (node.place, reader.faults.len());
    let mut items = Vec::new();
    match node.content {
        Content::Null => {}
        Content::String(names) => {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            items.extend(names.map(|name| McpServerItem::Named(Located { place, value: name.to_owned() })));
        }
        Content::List(listed) => listed.into_iter().for_each(|node| item(reader, node, notes, &mut items)),
        _ => return reader.wrong("a list of names and definitions of servers", &node),
    }
    let mut seen = Vec::new();
    items.retain(|item| {
        let name = item.name();
        let is_new = !seen.contains(&name.value);
        if !is_new {
            reader.fault::<()>(name.place, format!("`{}` lists `{}` twice", reader.key, name.value));
        }
        seen.push(name.value.clone());
        is_new
    });
    (reader.faults.len() == known).then_some(Located { place, value: items })
}

fn item(reader: &mut Reader<'_>, node: Node, notes: &mut Vec<Fault>, items: &mut Vec<McpServerItem>) {
    let place = node.place;
    match node.content {
        Content::String(name) if name.trim().is_empty() => {
            reader.invalid::<()>(place, "an item is blank");
        }
        Content::String(value) => items.push(McpServerItem::Named(Located { place, value })),
        Content::Map(_) => {
            let servers = read_mcp_servers(reader.key, node, reader.faults, notes);
            items.extend(servers.into_iter().map(McpServerItem::Inline));
        }
        Content::Invalid => {}
        other => {
            let expected = "expected names, or maps of definitions by name, as items";
            reader.invalid::<()>(place, format!("{expected}, found {}", other.kind()));
        }
    }
}

impl McpServerItem {
    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &Located<String> {
        match self {
            Self::Named(name) => name,
            Self::Inline(server) => &server.name,
        }
    }
}

/// Reads one server of the map in `field`; `None` if it has faults. Notes are about keys and values without an effect.
#[must_use]
pub fn read_mcp_server(
    field: &str,
    name: &Key,
    node: Node,
    faults: &mut Vec<Fault>,
    notes: &mut Vec<Fault>,
) -> Option<McpServer> {
    let known = faults.len();
    let server = Reading { faults, notes }.server(field, name, node);
    server.filter(|_| faults.len() == known)
}
