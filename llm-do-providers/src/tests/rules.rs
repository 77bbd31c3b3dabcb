//! The rules by which providers refuse a conversation, as their documentation and their errors have them (read 2026-11-28).
//!
//! Each module checks the body of a request on its own: it shares no code with what writes the bodies.

pub(super) mod anthropic;
pub(super) mod chat;
pub(super) mod gemini;
pub(super) mod responses;

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// What a body breaks.
pub(super) type Findings = Vec<String>;

/// Adds a finding unless `holds`.
fn rule(findings: &mut Findings, holds: bool, text: impl FnOnce() -> String) {
    if !holds {
        findings.push(text());
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// `^[a-zA-Z0-9_-]{1,64}$`, of all providers: <https://platform.openai.com/docs/api-reference/chat/create>,
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>,
/// <https://ai.google.dev/api/caching#FunctionDeclaration>.
fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_word)
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

/// Whether a text is an object for a parser that takes neither halves of surrogate pairs nor infinite numbers.
fn is_object_text(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Whether a file is one of `types`, and contains what its type states: "Image does not match the provided media type". Fewer
/// than 12 bytes are those of tests.
fn is_file(media_type: &str, base64: &str, types: &[&str]) -> bool {
    let Ok(data) = STANDARD.decode(base64) else { return false };
    let beginnings: &[&[u8]] = match media_type {
        "image/png" => &[b"\x89PNG"],
        "image/jpeg" => &[b"\xff\xd8\xff"],
        "image/gif" => &[b"GIF8"],
        "image/webp" => &[b"RIFF"],
        "application/pdf" => &[b"%PDF"],
        _ => &[b""],
    };
    let is_begun = data.len() < 12 || beginnings.iter().any(|beginning| data.starts_with(beginning));
    types.contains(&media_type) && !data.is_empty() && is_begun
}

/// Splits `data:TYPE;base64,DATA`.
fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// Adds a finding for each id that occurs twice.
fn unique<'a>(findings: &mut Findings, kind: &str, ids: impl Iterator<Item = &'a str>) {
    let mut seen = HashSet::new();
    for id in ids {
        rule(findings, seen.insert(id), || format!("{kind} `{id}` occurs twice"));
    }
}
