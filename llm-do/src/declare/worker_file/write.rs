//! Writes a spec as a worker file.

use std::fmt::Write;
use std::time::Duration;

use llm_do_providers::ServerSideTool;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::base::usage::seconds;
use crate::declare::worker_spec::{OutputMode, WorkerSpec};

#[derive(Serialize)]
#[serde(transparent)]
struct Time(#[serde(with = "seconds")] Option<Duration>);

/// Returns the text of the file; keys with default values are omitted.
pub(super) fn text(spec: &WorkerSpec) -> String {
    let default = WorkerSpec::new("", "");
    let tools: Value = spec.server_side_tools.iter().map(server_side_tool).collect();
    let keys = [
        ("name", Some(json!(spec.name))),
        ("description", Some(json!(spec.description)).filter(|_| !spec.description.trim().is_empty())),
        ("model", spec.model.as_ref().map(|model| json!(model))),
        ("compatible_models", some(&spec.compatible_models)),
        ("toolsets", some(&spec.toolsets)),
        ("code", Some(json!(true)).filter(|_| spec.code)),
        ("server_side_tools", Some(tools).filter(|_| !spec.server_side_tools.is_empty())),
        ("hints", some(&spec.hints)),
        ("settings", settings(spec)),
        ("output", Some(json!(spec.mode.word())).filter(|_| spec.mode != OutputMode::Auto)),
        ("max_turns", Some(json!(spec.max_turns)).filter(|_| spec.max_turns != default.max_turns)),
        ("retries", Some(json!(spec.retries)).filter(|_| spec.retries != default.retries)),
        ("limits", spec.limits.as_ref().map(|limits| json!(limits))),
        ("timeout", spec.timeout.map(|time| json!(Time(Some(time))))),
        ("input_schema", spec.input_schema.clone()),
        ("input_model_ref", spec.input_of.as_ref().map(|name| json!(name))),
        ("output_schema", spec.output_schema.clone()),
    ];
    let mut text = "---\n".to_owned();
    for (key, value) in keys.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let _ = writeln!(text, "{key}: {}", flow(&value));
    }
    text.push_str("---\n");
    let instructions = spec.instructions.trim();
    if !instructions.is_empty() {
        let _ = write!(text, "\n{instructions}\n");
    }
    text
}

fn some(texts: &[String]) -> Option<Value> {
    (!texts.is_empty()).then(|| json!(texts))
}

/// Returns an item of the list: the name of the tool, or a map if the tool has settings.
fn server_side_tool(tool: &ServerSideTool) -> Value {
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

/// Returns the settings that are set.
fn settings(spec: &WorkerSpec) -> Option<Value> {
    let mut settings = json!(spec.settings);
    let set = settings.as_object_mut()?;
    set.retain(|_, value| !value.is_null() && *value != json!([]) && *value != json!({}));
    (!set.is_empty()).then_some(settings)
}

/// Returns a value as JSON, which is valid YAML; schemas span several lines below their key.
fn flow(value: &Value) -> String {
    let is_long = value.as_object().is_some_and(|map| map.values().any(|value| value.is_object() || value.is_array()));
    let text = if is_long { format!("{value:#}").replace('\n', "\n  ") } else { value.to_string() };
    escaped(&text)
}

/// Escapes the characters that YAML does not allow unescaped in a string, but JSON does.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => escaped.push(letter),
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
            }
            other => escaped.push(other),
        }
    }
    escaped
}
