//! Reads the definition of one server.

use super::{McpOAuth, McpServer, McpTransport};
use crate::name::check_model_name;
use crate::values::Reader;
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, Place, did_you_mean};

/// The types of servers with a URL, in the form of [`type_word`], including the protocol's name of `http`.
const URL_TYPES: [&str; 2] = ["http", "streamablehttp"];
/// Types that the protocol has removed, or never had.
const OTHER_TYPES: [&str; 3] = ["sse", "websocket", "ws"];
const COMMAND_KEYS: [&str; 8] = ["type", "command", "args", "env", "timeout", "sampling", "optional", "disabled"];
const URL_KEYS: [&str; 8] = ["type", "url", "headers", "timeout", "sampling", "optional", "oauth", "disabled"];
/// The keys that disable a server, each with the value that does.
const SWITCHES: [(&str, bool); 2] = [("disabled", true), ("enabled", false)];
const OAUTH_KEYS: [&str; 3] = ["clientId", "callbackPort", "scopes"];
/// Keys of other programs that are not needed here.
const UNNEEDED_KEYS: [&str; 1] = ["alwaysLoad"];
/// Keys of other programs that have no effect here.
const IGNORED_KEYS: [&str; 1] = ["headersHelper"];

/// Returns the form in which names of types are compared: `streamableHttp` and `streamable-http` are equal.
fn type_word(kind: &str) -> String {
    kind.trim().chars().filter(|letter| !matches!(letter, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// Reads servers, with the faults and notes so far.
pub(super) struct Reading<'a> {
    pub(super) faults: &'a mut Vec<Fault>,
    pub(super) notes: &'a mut Vec<Fault>,
}

/// The keys of all types of servers.
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

    /// Reads the definition of a server.
    pub(super) fn server(&mut self, of: &str, name: &Key, node: Node) -> Option<McpServer> {
        let field = format!("{of}.{}", name.name);
        let entries = self.reader(&field).map(node)?;
        if self.is_disabled(&field, &entries)? {
            return Some(server(name, McpTransport::Disabled, Shared::default()));
        }
        let kind =
            entries.iter().find(|(key, _)| key.name == "type").map(|(key, node)| (key.place, node.content.clone()));
        let has_url = entries.iter().any(|(key, _)| key.name == "url");
        match kind {
            None if has_url => {
                let message = format!("missing `{field}.type`: a server with a `url` needs the type `http`");
                self.fault(name.place, message);
                None
            }
            None => self.command(&field, name, entries),
            Some((place, Content::String(kind))) => self.of_type(&field, name, (place, &kind), entries),
            Some((place, other)) => {
                self.fault(place, format!("`{field}.type`: expected a string, found {}", other.kind()));
                None
            }
        }
    }

    fn of_type(
        &mut self,
        field: &str,
        name: &Key,
        (place, kind): (Place, &str),
        entries: Vec<(Key, Node)>,
    ) -> Option<McpServer> {
        match type_word(kind) {
            word if word == "stdio" => self.command(field, name, entries),
            word if URL_TYPES.contains(&word.as_str()) => self.url(field, name, entries),
            word if OTHER_TYPES.contains(&word.as_str()) => {
                let message = format!(
                    "`{field}` is left out: the type `{kind}` is not supported; use `http`, if the server supports it"
                );
                self.notes.push(Fault::new(place, message));
                Some(server(name, McpTransport::Unsupported { kind: kind.to_owned() }, Shared::default()))
            }
            _ => {
                let hint = did_you_mean(kind, ["stdio", "http"]);
                self.fault(place, format!("`{field}.type`: expected `stdio` or `http`, found `{kind}`{hint}"));
                None
            }
        }
    }

    /// Returns whether the file disables the server; `None` with a fault, since a server that may be disabled is not
    /// started.
    fn is_disabled(&mut self, field: &str, entries: &[(Key, Node)]) -> Option<bool> {
        let mut is_disabled = false;
        for (key, node) in entries {
            let Some((_, off)) = SWITCHES.into_iter().find(|(name, _)| *name == key.name) else { continue };
            is_disabled |= self.reader(&format!("{field}.{}", key.name)).flag(node)? == off;
        }
        Some(is_disabled)
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
            "type" | "disabled" | "enabled" => {}
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

    /// Reports a missing key, unless it already has a fault.
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

    /// Reads a list of strings with possible duplicates; numbers and flags are converted to their JSON text.
    fn args(&mut self, path: &str, node: Node) -> Vec<String> {
        let Content::List(items) = node.content else {
            let _: Option<()> = self.reader(path).wrong("a list of strings", &node);
            return Vec::new();
        };
        let mut arguments = Vec::new();
        for item in items {
            match item.text() {
                Some(text) => arguments.push(text),
                None => self
                    .fault(item.place, format!("`{path}`: expected strings as items, found {}", item.content.kind())),
            }
        }
        arguments
    }

    /// Reads a map of strings; numbers and flags are converted to their JSON text, and `null` is dropped.
    fn texts(&mut self, path: &str, node: Node) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for (key, node) in self.reader(path).map(node).unwrap_or_default() {
            match node.text() {
                Some(text) => texts.push((key.name, text)),
                None if node.content == Content::Null => {}
                None => {
                    let message = format!("`{path}.{}`: expected a string, found {}", key.name, node.content.kind());
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
