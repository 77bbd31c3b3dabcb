//! `.mcp.json`: servers of tools.
//!
//! Source: <https://code.claude.com/docs/en/mcp>, read 2026-11.

mod server;
#[cfg(feature = "mcp")]
mod start;

use std::path::Path;

use llm_do_worker_file::{Content, Fault, Key, Node, Place, Reader, did_you_mean};

pub(crate) use self::server::ServerFile;
use self::server::Transport;
use super::report::shown;
use super::{Report, json};

/// The types of servers that are reached by a URL; the protocol's name of `http` is one too.
const URL_TYPES: [&str; 2] = ["http", "streamable-http"];
/// Types that the protocol has dropped, or never had.
const OTHER_TYPES: [&str; 2] = ["sse", "ws"];
const COMMAND_KEYS: [&str; 5] = ["type", "command", "args", "env", "timeout"];
const URL_KEYS: [&str; 4] = ["type", "url", "headers", "timeout"];
/// Keys that other programs read, and that need nothing here.
const UNNEEDED_KEYS: [&str; 1] = ["alwaysLoad"];
/// Keys that other programs read, and that have no effect here.
const IGNORED_KEYS: [&str; 2] = ["headersHelper", "oauth"];

/// Reads a `.mcp.json`.
pub(super) fn read(path: &Path, root: &Path, report: &mut Report) -> Vec<ServerFile> {
    let Some(text) = report.text_of(path) else { return Vec::new() };
    let mut reading = Reading { file: path, root, faults: Vec::new(), warnings: Vec::new(), servers: Vec::new() };
    if let Some(root) = json::read(&text, &mut reading.faults) {
        reading.root(root);
    }
    let Reading { faults, warnings, servers, .. } = reading;
    report.faults(path, faults);
    for (place, message) in warnings {
        report.warning(path, place, message);
    }
    servers
}

struct Reading<'a> {
    file: &'a Path,
    root: &'a Path,
    faults: Vec<Fault>,
    warnings: Vec<(Place, String)>,
    servers: Vec<ServerFile>,
}

impl Reading<'_> {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: &mut self.faults }
    }

    fn map(&mut self, key: &str, node: Node) -> Option<Vec<(Key, Node)>> {
        self.reader(key).map(node)
    }

    fn root(&mut self, root: Node) {
        let place = root.place;
        let Content::Map(entries) = root.content else {
            return self.fault(place, format!("expected a map of keys, found {}", root.content.kind()));
        };
        if !entries.iter().any(|(key, _)| key.name == "mcpServers") {
            self.fault(place, "missing `mcpServers`: a map of servers by name");
        }
        for (key, node) in entries {
            if key.name != "mcpServers" {
                let hint = did_you_mean(&key.name, ["mcpServers"]);
                self.warnings.push((key.place, format!("unknown key `{}` has no effect here{hint}", key.name)));
                continue;
            }
            for (name, node) in self.map("mcpServers", node).unwrap_or_default() {
                self.server(&name, node);
            }
        }
    }

    fn server(&mut self, name: &Key, node: Node) {
        let field = format!("mcpServers.{}", name.name);
        let Some(entries) = self.map(&field, node) else { return };
        let kind =
            entries.iter().find(|(key, _)| key.name == "type").map(|(key, node)| (key.place, node.content.clone()));
        let has_url = entries.iter().any(|(key, _)| key.name == "url");
        match kind {
            None if has_url => {
                let message = format!("`{field}` has a `url`, so it needs a `type`: `http`");
                self.fault(name.place, message);
            }
            None => self.command(&field, name, entries),
            Some((_, Content::String(kind))) if kind == "stdio" => self.command(&field, name, entries),
            Some((_, Content::String(kind))) if URL_TYPES.contains(&kind.as_str()) => self.url(&field, name, entries),
            Some((place, Content::String(kind))) if OTHER_TYPES.contains(&kind.as_str()) => {
                let message = format!(
                    "`{field}` is left out: the type `{kind}` is not part of MCP any longer; use `http`, if the server \
                     supports it"
                );
                self.warnings.push((place, message));
                self.servers.push(self.of(name, Transport::Unsupported, None));
            }
            Some((place, Content::String(kind))) => {
                let hint = did_you_mean(&kind, ["stdio", "http"]);
                self.fault(place, format!("`{field}.type`: expected `stdio` or `http`, found `{kind}`{hint}"));
            }
            Some((place, other)) => {
                self.fault(place, format!("`{field}.type`: expected a string, found {}", other.kind()));
            }
        }
    }

    fn of(&self, name: &Key, transport: Transport, timeout: Option<u64>) -> ServerFile {
        let place = format!("{}:{}", shown(self.file).display(), name.place.line);
        ServerFile { name: name.name.clone(), place, root: self.root.to_owned(), transport, timeout }
    }

    /// Reads a server that is a program.
    fn command(&mut self, field: &str, name: &Key, entries: Vec<(Key, Node)>) {
        let (mut command, mut arguments, mut variables, mut timeout) = (None, Vec::new(), Vec::new(), None);
        for (key, node) in entries {
            let path = format!("{field}.{}", key.name);
            match key.name.as_str() {
                "type" => {}
                "command" => command = self.reader(&path).string(node).map(|command| command.value),
                "args" => arguments = self.args(&path, node),
                "env" => variables = self.texts(&path, node),
                "timeout" => timeout = self.timeout(&path, &node),
                _ => self.other(&path, &key, &COMMAND_KEYS),
            }
        }
        match command {
            Some(program) => {
                let transport = Transport::Command { program, arguments, variables };
                self.servers.push(self.of(name, transport, timeout));
            }
            None => self.missing(field, name, "command"),
        }
    }

    /// Reads a server at a URL.
    fn url(&mut self, field: &str, name: &Key, entries: Vec<(Key, Node)>) {
        let (mut url, mut headers, mut timeout) = (None, Vec::new(), None);
        for (key, node) in entries {
            let path = format!("{field}.{}", key.name);
            match key.name.as_str() {
                "type" => {}
                "url" => url = self.reader(&path).string(node).map(|url| url.value),
                "headers" => headers = self.texts(&path, node),
                "timeout" => timeout = self.timeout(&path, &node),
                _ => self.other(&path, &key, &URL_KEYS),
            }
        }
        match url {
            Some(url) => self.servers.push(self.of(name, Transport::Http { url, headers }, timeout)),
            None => self.missing(field, name, "url"),
        }
    }

    /// Reports a missing key, unless it has a fault already.
    fn missing(&mut self, field: &str, name: &Key, key: &str) {
        let path = format!("`{field}.{key}`");
        if !self.faults.iter().any(|fault| fault.message.starts_with(&path)) {
            self.fault(name.place, format!("`{field}`: missing `{key}`"));
        }
    }

    fn other(&mut self, path: &str, key: &Key, known: &[&str]) {
        let name = key.name.as_str();
        if UNNEEDED_KEYS.contains(&name) {
            return;
        }
        let message = if IGNORED_KEYS.contains(&name) {
            format!("`{path}` has no effect here")
        } else {
            format!("unknown key `{path}` has no effect here{}", did_you_mean(name, known.iter().copied()))
        };
        self.warnings.push((key.place, message));
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
        for (key, node) in self.map(path, node).unwrap_or_default() {
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
