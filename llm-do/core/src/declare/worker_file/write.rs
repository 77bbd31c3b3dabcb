//! Writes a spec as a worker file.

use std::fmt::Write;

use serde_json::Value;

use super::spec;
use crate::declare::worker_spec::WorkerSpec;

/// Returns the text of the file.
pub(super) fn text(spec: &WorkerSpec) -> String {
    let mut text = "---\n".to_owned();
    for (key, value) in spec::keys(spec) {
        let _ = writeln!(text, "{key}: {}", flow(&value));
    }
    text.push_str("---\n");
    let instructions = spec.instructions.trim();
    if !instructions.is_empty() {
        let _ = write!(text, "\n{instructions}\n");
    }
    text
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
