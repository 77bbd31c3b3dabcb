//! `server_side_tools`: tools that the provider runs.

use crate::values::{DOCUMENTATION, Reader, unknown_key};
use crate::yaml::{Content, Key, Node};
use crate::{Fault, Located, did_you_mean};

/// All server-side tools, for a fault.
pub const SERVER_SIDE_TOOLS: &str = "expected `web_search`, `web_fetch`, `code_execution`, `image_generation` or \
     `programmatic_tool_calling`";
const SEARCH_KEYS: [&str; 4] = ["tool_type", "max_uses", "allowed_domains", "blocked_domains"];

/// The kind of a server-side tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are those of `llm_do::model::ServerSideTool`")]
pub enum ServerSideKind {
    WebSearch,
    WebFetch,
    CodeExecution,
    ImageGeneration,
    ProgrammaticToolCalling,
}

impl ServerSideKind {
    const ALL: [Self; 5] =
        [Self::WebSearch, Self::WebFetch, Self::CodeExecution, Self::ImageGeneration, Self::ProgrammaticToolCalling];

    /// Returns its name in files and attributes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
            Self::CodeExecution => "code_execution",
            Self::ImageGeneration => "image_generation",
            Self::ProgrammaticToolCalling => "programmatic_tool_calling",
        }
    }

    /// Returns the kind of that name.
    ///
    /// # Errors
    ///
    /// Returns the names that exist.
    pub fn named(word: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(|| {
            let hint = did_you_mean(word, Self::ALL.into_iter().map(Self::word));
            format!("unknown server-side tool `{word}`{hint}\n{SERVER_SIDE_TOOLS}")
        })
    }
}

/// A server-side tool with its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSideTool {
    /// Which tool it is.
    pub kind: ServerSideKind,
    /// The maximum number of searches per request; `web_search` only.
    pub max_uses: Option<u32>,
    /// The only domains that are searched; `web_search` only.
    pub allowed_domains: Option<Vec<String>>,
    /// The domains that are not searched; `web_search` only.
    pub blocked_domains: Option<Vec<String>>,
}

/// Reads the list; invalid tools are reported and omitted.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Located<Vec<Located<ServerSideTool>>>> {
    let place = node.place;
    let items = match node.content {
        Content::List(items) => items,
        Content::Null => Vec::new(),
        _ => return reader.wrong("a list of tools", &node),
    };
    let mut value: Vec<Located<ServerSideTool>> = Vec::new();
    for item in items {
        let Some(tool) = tool(item, reader) else { continue };
        if value.iter().any(|other| other.value.kind == tool.value.kind) {
            reader.fault::<()>(tool.place, format!("`{}` lists `{}` twice", reader.key, tool.value.kind.word()));
        } else {
            value.push(tool);
        }
    }
    Some(Located { place, value })
}

/// Reads `web_search`, or `{tool_type: web_search, max_uses: 3}`.
fn tool(node: Node, reader: &mut Reader<'_>) -> Option<Located<ServerSideTool>> {
    let place = node.place;
    let (word, settings) = tool_type(node, reader)?;
    let kind = match ServerSideKind::named(&word) {
        Ok(kind) => kind,
        Err(message) => return reader.fault(place, message),
    };
    if let Some((key, _)) = settings.first().filter(|_| kind != ServerSideKind::WebSearch) {
        return reader.fault(key.place, format!("unknown key `{}` of `{word}`: this tool has no settings", key.name));
    }
    let mut value = ServerSideTool { kind, max_uses: None, allowed_domains: None, blocked_domains: None };
    for (key, node) in settings {
        value.set(&key, node, reader.faults);
    }
    Some(Located { place, value })
}

/// Returns the name of the tool, and the settings beside it.
fn tool_type(node: Node, reader: &mut Reader<'_>) -> Option<(String, Vec<(Key, Node)>)> {
    match node.content {
        Content::String(word) => Some((word, Vec::new())),
        Content::Map(mut settings) => {
            let Some(position) = settings.iter().position(|(key, _)| key.name == "tool_type") else {
                return reader
                    .fault(node.place, format!("missing `tool_type` of a server-side tool\n{SERVER_SIDE_TOOLS}"));
            };
            let (_, word) = settings.remove(position);
            let word = Reader { key: "tool_type", faults: reader.faults }.string(word)?;
            Some((word.value, settings))
        }
        Content::Invalid => None,
        other => {
            reader.invalid(node.place, format!("expected tools as items, found {}\n{SERVER_SIDE_TOOLS}", other.kind()))
        }
    }
}

impl ServerSideTool {
    fn set(&mut self, key: &Key, node: Node, faults: &mut Vec<Fault>) {
        let mut reader = Reader { key: &key.name, faults };
        match key.name.as_str() {
            "max_uses" => self.max_uses = reader.count(&node, u32::MAX),
            "allowed_domains" => self.allowed_domains = reader.nonempty_strings(node).map(Located::values),
            "blocked_domains" => self.blocked_domains = reader.nonempty_strings(node).map(Located::values),
            _ => faults.push(unknown_key(key, " of `web_search`", &SEARCH_KEYS, DOCUMENTATION)),
        }
    }
}
