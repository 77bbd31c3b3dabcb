//! A worker's arguments as its model reads them.

use serde_json::Value;

/// Renders a worker's arguments: a single text named `input` is the prompt itself, anything else goes as JSON.
pub(crate) fn prompt(arguments: &Value) -> String {
    match arguments {
        Value::Object(fields) if fields.is_empty() => "(no input)".to_owned(),
        Value::Object(fields) if fields.len() == 1 => match fields.get("input") {
            Some(Value::String(text)) if text.trim().is_empty() => "(no input)".to_owned(),
            Some(Value::String(text)) => text.clone(),
            _ => pretty(arguments),
        },
        other => pretty(other),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}
