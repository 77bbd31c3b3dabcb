//! Definitions of MCP servers: in `.mcp.json`, and in the front matter of workers.
//!
//! Source: <https://code.claude.com/docs/en/mcp>, read 2026-11.

use crate::name::check_model_name;
use crate::values::Reader;
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, Place, did_you_mean};

/// The types of servers that are reached by a URL; the protocol's name of `http` is one too.
const URL_TYPES: [&str; 2] = ["http", "streamable-http"];
/// Types that the protocol has dropped, or never had.
const OTHER_TYPES: [&str; 2] = ["sse", "ws"];
const COMMAND_KEYS: [&str; 7] = ["type", "command", "args", "env", "timeout", "sampling", "optional"];
const URL_KEYS: [&str; 7] = ["type", "url", "headers", "timeout", "sampling", "optional", "oauth"];
const OAUTH_KEYS: [&str; 3] = ["clientId", "callbackPort", "scopes"];
/// Keys that other programs read, and that need nothing here.
const UNNEEDED_KEYS: [&str; 1] = ["alwaysLoad"];
/// Keys that other programs read, and that have no effect here.
const IGNORED_KEYS: [&str; 1] = ["headersHelper"];

/// A server, as a file describes it: variables are not replaced yet.
#[derive(Clone, Debug, PartialEq)]
pub struct McpServer {
    /// The name, at the place of the definition.
    pub name: Located<String>,
    /// How it is reached.
    pub transport: McpTransport,
    /// The timeout of each call, in milliseconds.
    pub timeout: Option<u64>,
    /// The model that answers requests of the server.
    pub sampling: Option<String>,
    /// Whether its tools may be missing.
    pub optional: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the files")]
pub enum McpTransport {
    /// A program.
    Command { program: String, arguments: Vec<String>, variables: Vec<(String, String)> },
    /// A URL.
    Http { url: String, headers: Vec<(String, String)>, oauth: McpOAuth },
    /// A type that is not supported: the server is left out.
    Unsupported,
}

/// How the user logs in at a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct McpOAuth {
    /// The id of a program that is registered with the authorization server.
    pub client_id: Option<String>,
    /// The port of the redirect on this machine.
    pub callback_port: Option<u16>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
}

/// A server that a worker has: one of the project, or one of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum McpServerItem {
    /// The server of the project with this name.
    Named(Located<String>),
    /// A server that the worker defines.
    Inline(McpServer),
}

/// Reads the map of servers by name in `field`; notes are about what has no effect.
#[must_use]
pub fn read_mcp_servers(field: &str, node: Node, faults: &mut Vec<Fault>, notes: &mut Vec<Fault>) -> Vec<McpServer> {
    let entries = Reader { key: field, faults }.map(node).unwrap_or_default();
    let mut reading = Reading { faults, notes };
    entries.into_iter().filter_map(|(name, node)| reading.server(field, &name, node)).collect()
}

/// Reads a list of servers: names, and maps of definitions by name. The names may be separated by commas instead. `None`: it has faults.
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

struct Reading<'a> {
    faults: &'a mut Vec<Fault>,
    notes: &'a mut Vec<Fault>,
}

/// The keys that all types of servers have.
#[derive(Default)]
struct Shared {
    timeout: Option<u64>,
    sampling: Option<String>,
    optional: bool,
}

impl Reading<'_> {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: self.faults }
    }

    fn server(&mut self, of: &str, name: &Key, node: Node) -> Option<McpServer> {
        let field = format!("{of}.{}", name.name);
        let entries = self.reader(&field).map(node)?;
        let kind =
            entries.iter().find(|(key, _)| key.name == "type").map(|(key, node)| (key.place, node.content.clone()));
        let has_url = entries.iter().any(|(key, _)| key.name == "url");
        match kind {
            None if has_url => {
                let message = format!("missing `{field}.type`: a server with a `url` needs the type `http`");
                self.fault(name.place, message);
            }
            None => return self.command(&field, name, entries),
            Some((_, Content::String(kind))) if kind == "stdio" => return self.command(&field, name, entries),
            Some((_, Content::String(kind))) if URL_TYPES.contains(&kind.as_str()) => {
                return self.url(&field, name, entries);
            }
            Some((place, Content::String(kind))) if OTHER_TYPES.contains(&kind.as_str()) => {
                let message = format!(
                    "`{field}` is left out: the type `{kind}` is not supported; use `http`, if the server supports it"
                );
                self.notes.push(Fault::new(place, message));
                return Some(server(name, McpTransport::Unsupported, Shared::default()));
            }
            Some((place, Content::String(kind))) => {
                let hint = did_you_mean(&kind, ["stdio", "http"]);
                self.fault(place, format!("`{field}.type`: expected `stdio` or `http`, found `{kind}`{hint}"));
            }
            Some((place, other)) => {
                self.fault(place, format!("`{field}.type`: expected a string, found {}", other.kind()));
            }
        }
        None
    }

    /// Reads a server that is a program.
    fn command(&mut self, field: &str, name: &Key, entries: Vec<(Key, Node)>) -> Option<McpServer> {
        let (mut command, mut arguments, mut variables, mut shared) = (None, Vec::new(), Vec::new(), Shared::default());
        for (key, node) in entries {
            let path = format!("{field}.{}", key.name);
            match key.name.as_str() {
                "command" => command = self.reader(&path).string(node).map(|command| command.value),
                "args" => arguments = self.args(&path, node),
                "env" => variables = self.texts(&path, node),
                _ => self.shared(&path, &key, node, &mut shared, &COMMAND_KEYS),
            }
        }
        let program = command.or_else(|| self.missing(field, name, "command"))?;
        Some(server(name, McpTransport::Command { program, arguments, variables }, shared))
    }

    /// Reads a server at a URL.
    fn url(&mut self, field: &str, name: &Key, entries: Vec<(Key, Node)>) -> Option<McpServer> {
        let (mut url, mut headers, mut oauth, mut shared) = (None, Vec::new(), McpOAuth::default(), Shared::default());
        for (key, node) in entries {
            let path = format!("{field}.{}", key.name);
            match key.name.as_str() {
                "url" => url = self.reader(&path).string(node).map(|url| url.value),
                "headers" => headers = self.texts(&path, node),
                "oauth" => oauth = self.oauth(&path, node),
                _ => self.shared(&path, &key, node, &mut shared, &URL_KEYS),
            }
        }
        let url = url.or_else(|| self.missing(field, name, "url"))?;
        Some(server(name, McpTransport::Http { url, headers, oauth }, shared))
    }

    fn oauth(&mut self, field: &str, node: Node) -> McpOAuth {
        let mut oauth = McpOAuth::default();
        for (key, node) in self.reader(field).map(node).unwrap_or_default() {
            let path = format!("{field}.{}", key.name);
            match key.name.as_str() {
                "clientId" => oauth.client_id = self.reader(&path).string(node).map(|id| id.value),
                "callbackPort" => oauth.callback_port = self.reader(&path).count(&node, u16::MAX),
                "scopes" => {
                    let scopes = self.reader(&path).string(node).map(|scopes| scopes.value).unwrap_or_default();
                    oauth.scopes = scopes.split_whitespace().map(str::to_owned).collect();
                }
                _ => self.without_effect(&path, &key, &OAUTH_KEYS),
            }
        }
        oauth
    }

    fn shared(&mut self, path: &str, key: &Key, node: Node, shared: &mut Shared, known: &[&str]) {
        match key.name.as_str() {
            "type" => {}
            "timeout" => shared.timeout = self.timeout(path, &node),
            "sampling" => shared.sampling = self.model(path, node),
            "optional" => shared.optional = self.reader(path).flag(&node).unwrap_or_default(),
            name if UNNEEDED_KEYS.contains(&name) => {}
            _ => self.without_effect(path, key, known),
        }
    }

    fn model(&mut self, path: &str, node: Node) -> Option<String> {
        let model = self.reader(path).string(node)?;
        match check_model_name(&model.value) {
            Ok(()) => Some(model.value),
            Err(message) => self.reader(path).invalid(model.place, message),
        }
    }

    /// Reports a missing key, unless it has a fault already.
    fn missing(&mut self, field: &str, name: &Key, key: &str) -> Option<String> {
        let path = format!("`{field}.{key}`");
        if !self.faults.iter().any(|fault| fault.message.starts_with(&path)) {
            self.fault(name.place, format!("`{field}`: missing `{key}`"));
        }
        None
    }

    fn without_effect(&mut self, path: &str, key: &Key, known: &[&str]) {
        let name = key.name.as_str();
        let message = if IGNORED_KEYS.contains(&name) {
            format!("`{path}` has no effect here")
        } else {
            format!("unknown key `{path}` has no effect here{}", did_you_mean(name, known.iter().copied()))
        };
        self.notes.push(Fault::new(key.place, message));
    }

    /// Reads a timeout in milliseconds.
    fn timeout(&mut self, path: &str, node: &Node) -> Option<u64> {
        let timeout = self.reader(path).count(node, u64::MAX);
        if timeout == Some(0) {
            self.fault(node.place, format!("`{path}`: expected a number of milliseconds of at least 1"));
        }
        timeout
    }

    /// Reads a list of strings, in which one may stand twice.
    fn args(&mut self, path: &str, node: Node) -> Vec<String> {
        let Content::List(items) = node.content else {
            let _: Option<()> = self.reader(path).wrong("a list of strings", &node);
            return Vec::new();
        };
        let mut arguments = Vec::new();
        for item in items {
            match item.content {
                Content::String(text) => arguments.push(text),
                other => self.fault(item.place, format!("`{path}`: expected strings as items, found {}", other.kind())),
            }
        }
        arguments
    }

    /// Reads a map of strings.
    fn texts(&mut self, path: &str, node: Node) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for (key, node) in self.reader(path).map(node).unwrap_or_default() {
            match node.content {
                Content::String(text) => texts.push((key.name, text)),
                other => {
                    let message = format!("`{path}.{}`: expected a string, found {}", key.name, other.kind());
                    self.fault(key.place, message);
                }
            }
        }
        texts
    }
}

fn server(name: &Key, transport: McpTransport, shared: Shared) -> McpServer {
    let Shared { timeout, sampling, optional } = shared;
    McpServer { name: Located { place: name.place, value: name.name.clone() }, transport, timeout, sampling, optional }
}
