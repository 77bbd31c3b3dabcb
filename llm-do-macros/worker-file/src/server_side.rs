//! `server_side_tools`: tools that the provider runs.

use crate::Located;
use crate::table::{self, COUNT_32, KeyDef, ServerSideTool, TEXT, TEXTS};
use crate::values::Reader;
use crate::word::{SERVER_SIDE_TOOLS, ServerSideKind};
use crate::yaml::{Content, Key, Node};

/// The keys of a server-side tool with settings.
pub const WEB_SEARCH: &[KeyDef] = &[
    KeyDef::new("tool_type", TEXT, "The name of the tool: `web_search`"),
    KeyDef::new("max_uses", COUNT_32, "The maximum number of searches per request"),
    KeyDef::new("allowed_domains", TEXTS, "The only domains to search"),
    KeyDef::new("blocked_domains", TEXTS, "Domains to exclude"),
];

/// Reads the list; invalid tools are reported and omitted.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Vec<Located<ServerSideTool>>> {
    let items = match node.content {
        Content::List(items) => items,
        Content::Null => Vec::new(),
        _ => return reader.wrong("a list of tools", &node),
    };
    let mut tools: Vec<Located<ServerSideTool>> = Vec::new();
    for item in items {
        let Some(tool) = tool(item, reader) else { continue };
        if tools.iter().any(|other| other.value.kind == tool.value.kind) {
            reader.fault::<()>(tool.place, format!("`{}` lists `{}` twice", reader.key, tool.value.kind.word()));
        } else {
            tools.push(tool);
        }
    }
    Some(tools)
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
    let settings = table::read(WEB_SEARCH, " of `web_search`", settings, reader.faults);
    Some(Located { place, value: ServerSideTool { kind, settings } })
}

/// Returns the name of the tool, and its settings.
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
