//! `.mcp.json`: servers of tools.
//!
//! Source: <https://code.claude.com/docs/en/mcp>, read 2026-11.

use std::path::Path;

use llm_do_worker_file::{Content, Fault, Key, Node, Place, Reader, did_you_mean};

use super::{Report, json};

/// The types of servers that are reached by a URL; the protocol's name of `http` is one too.
const URL_TYPES: [&str; 4] = ["http", "sse", "ws", "streamable-http"];
const COMMAND_KEYS: [&str; 4] = ["type", "command", "args", "env"];
const URL_KEYS: [&str; 3] = ["type", "url", "headers"];
const OTHER_KEYS: [&str; 4] = ["timeout", "alwaysLoad", "headersHelper", "oauth"];

/// Checks a `.mcp.json`, and returns the names of its servers.
pub(super) fn read(path: &Path, report: &mut Report) -> Vec<String> {
    let Some(text) = report.text_of(path) else { return Vec::new() };
    let mut reading = Reading { faults: Vec::new(), warnings: Vec::new(), servers: Vec::new() };
    if let Some(root) = json::read(&text, &mut reading.faults) {
        reading.root(root);
    }
    report.faults(path, reading.faults);
    for (place, message) in reading.warnings {
        report.warning(path, place, message);
    }
    if let Some((place, _)) = reading.servers.first() {
        let names: Vec<_> = reading.servers.iter().map(|(_, name)| format!("`{name}`")).collect();
        report.warning(
            path,
            *place,
            format!("MCP servers are not supported yet, so these are ignored: {}", names.join(", ")),
        );
    }
    reading.servers.into_iter().map(|(_, name)| name).collect()
}

struct Reading {
    faults: Vec<Fault>,
    warnings: Vec<(Place, String)>,
    servers: Vec<(Place, String)>,
}

impl Reading {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    fn map(&mut self, key: &str, node: Node) -> Option<Vec<(Key, Node)>> {
        Reader { key, faults: &mut self.faults }.map(node)
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
                self.server(name, node);
            }
        }
    }

    fn server(&mut self, name: Key, node: Node) {
        let field = format!("mcpServers.{}", name.name);
        let Some(entries) = self.map(&field, node) else { return };
        let kind =
            entries.iter().find(|(key, _)| key.name == "type").map(|(key, node)| (key.place, node.content.clone()));
        let has_url = entries.iter().any(|(key, _)| key.name == "url");
        match kind {
            None if has_url => {
                let message = format!("`{field}` has a `url`, so it needs a `type`: `http`, `sse` or `ws`");
                return self.fault(name.place, message);
            }
            None => self.keys(&field, &name, entries, "command"),
            Some((_, Content::String(kind))) if kind == "stdio" => self.keys(&field, &name, entries, "command"),
            Some((_, Content::String(kind))) if URL_TYPES.contains(&kind.as_str()) => {
                self.keys(&field, &name, entries, "url");
            }
            Some((place, Content::String(kind))) => {
                let hint = did_you_mean(&kind, ["stdio", "http", "sse", "ws"]);
                let message = format!("`{field}.type`: expected `stdio`, `http`, `sse` or `ws`, found `{kind}`{hint}");
                return self.fault(place, message);
            }
            Some((place, other)) => {
                return self.fault(place, format!("`{field}.type`: expected a string, found {}", other.kind()));
            }
        }
        self.servers.push((name.place, name.name));
    }

    /// Checks the keys of a server that is reached by a command or by a URL.
    fn keys(&mut self, field: &str, name: &Key, entries: Vec<(Key, Node)>, required: &str) {
        if !entries.iter().any(|(key, _)| key.name == required) {
            self.fault(name.place, format!("`{field}`: missing `{required}`"));
        }
        let known: &[&str] = if required == "command" { &COMMAND_KEYS } else { &URL_KEYS };
        for (key, node) in entries {
            let path = format!("{field}.{}", key.name);
            match key.name.as_str() {
                name if OTHER_KEYS.contains(&name) => {}
                name if !known.contains(&name) => {
                    let hint = did_you_mean(name, known.iter().copied());
                    self.warnings.push((key.place, format!("unknown key `{path}` has no effect here{hint}")));
                }
                "args" => drop(self.args(&path, node)),
                "env" | "headers" => self.texts(&path, node),
                _ => drop(Reader { key: &path, faults: &mut self.faults }.string(node)),
            }
        }
    }

    /// Checks a list of strings, in which one may stand twice.
    fn args(&mut self, path: &str, node: Node) -> Option<()> {
        let Content::List(items) = node.content else {
            return Reader { key: path, faults: &mut self.faults }.wrong("a list of strings", &node);
        };
        for item in items {
            if !matches!(item.content, Content::String(_)) {
                self.fault(item.place, format!("`{path}`: expected strings as items, found {}", item.content.kind()));
            }
        }
        Some(())
    }

    fn texts(&mut self, path: &str, node: Node) {
        for (key, node) in self.map(path, node).unwrap_or_default() {
            if !matches!(node.content, Content::String(_)) {
                let message = format!("`{path}.{}`: expected a string, found {}", key.name, node.content.kind());
                self.fault(key.place, message);
            }
        }
    }
}
