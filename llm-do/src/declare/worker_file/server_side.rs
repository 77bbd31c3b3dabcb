//! `server_side_tools`: what the provider runs by itself.

use llm_do_providers::{ServerSideTool, WebSearch};
use serde_json::{Map, Value, json};

use super::value::{Key, kind};

const EXPECTED: &str = "expected `web_search`, `web_fetch`, `code_execution` or `image_generation`";
const SEARCH_SETTINGS: [&str; 3] = ["max_uses", "allowed_domains", "blocked_domains"];

/// Reads the list; a tool at fault is noted and left out.
pub(super) fn read(value: Value, key: &mut Key<'_>) -> Vec<ServerSideTool> {
    let items = match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        other => {
            key.fault::<()>(format!("`server_side_tools` takes a list, not {}; {EXPECTED}", kind(&other)));
            Vec::new()
        }
    };
    let mut tools: Vec<ServerSideTool> = Vec::new();
    for item in items {
        let Some(tool) = tool(item, key) else { continue };
        if tools.iter().any(|other| other.is_same(&tool)) {
            key.fault::<()>(format!("`{tool}` listed twice"));
        } else {
            tools.push(tool);
        }
    }
    tools
}

/// Reads `web_search`, or `{tool_type: web_search, max_uses: 3}`.
fn tool(value: Value, key: &mut Key<'_>) -> Option<ServerSideTool> {
    let (word, settings) = match value {
        Value::String(word) => (word, Map::new()),
        Value::Object(mut settings) => {
            let Some(word) = settings.shift_remove("tool_type") else {
                return key.fault(format!("a server-side tool with settings needs a `tool_type`; {EXPECTED}"));
            };
            (key.inner("tool_type").text(word)?, settings)
        }
        other => return key.fault(format!("`server_side_tools` lists tools, not {}; {EXPECTED}", kind(&other))),
    };
    let tool = match word.as_str() {
        "web_search" => return Some(search(settings, key).into()),
        "web_fetch" => ServerSideTool::WebFetch,
        "code_execution" => ServerSideTool::CodeExecution,
        "image_generation" => ServerSideTool::ImageGeneration,
        _ => return key.fault(format!("unknown server-side tool `{word}`; {EXPECTED}")),
    };
    match settings.keys().next() {
        Some(name) => key.fault(format!("`{word}` has no settings such as `{name}`")),
        None => Some(tool),
    }
}

fn search(settings: Map<String, Value>, key: &mut Key<'_>) -> WebSearch {
    let mut search = WebSearch::new();
    for (name, value) in settings {
        let mut key = key.inner(&name);
        match name.as_str() {
            "max_uses" => search.max_uses = key.count(&value),
            "allowed_domains" => search.allowed_domains = key.some_texts(value),
            "blocked_domains" => search.blocked_domains = key.some_texts(value),
            _ => key.unknown(" of `web_search`", &SEARCH_SETTINGS),
        }
    }
    search
}

/// Returns a tool as the list has it: its name, with settings a map.
pub(super) fn written(tool: &ServerSideTool) -> Value {
    let ServerSideTool::WebSearch(search) = tool else { return json!(tool.name()) };
    let settings = [
        ("max_uses", search.max_uses.map(|uses| json!(uses))),
        ("allowed_domains", search.allowed_domains.as_ref().map(|domains| json!(domains))),
        ("blocked_domains", search.blocked_domains.as_ref().map(|domains| json!(domains))),
    ];
    let mut map = Map::from_iter([("tool_type".to_owned(), json!(tool.name()))]);
    map.extend(settings.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    if map.len() == 1 { json!(tool.name()) } else { Value::Object(map) }
}
