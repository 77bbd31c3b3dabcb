//! The thoughts of a model, in the formats in which servers send them and expect them back.
//!
//! The data of a thought is written and read only here:
//!
//! | Fields of the thoughts | Data |
//! | --- | --- |
//! | `reasoning`, `reasoning_content` | `field`, its name, and the requested `model`; the text is that of the part |
//! | `reasoning_details` | `details`, and the requested `model` |
//! | chunks of the content | `chunks` |

use serde_json::{Value, json};

use super::dialect::{Dialect, Replay};
use crate::message::{ProviderData, ResponsePart, Thinking};

const CONTENT: &str = "reasoning_content";
const PLAIN: &str = "reasoning";

/// The thoughts in a delta of an answer.
#[derive(Debug, Default)]
pub(super) struct ReasoningDelta {
    pub(super) reasoning_content: Option<Box<str>>,
    pub(super) reasoning: Option<Box<str>>,
    pub(super) details: Option<Vec<Value>>,
    pub(super) chunks: Box<[Value]>,
    /// Whether it is the whole answer, and continues no earlier delta.
    pub(super) is_whole: bool,
}

/// The thoughts of an answer so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Reasoning {
    text: String,
    /// The field that the text arrived in.
    field: Option<&'static str>,
    details: Option<Vec<Value>>,
    chunks: Vec<Value>,
}

impl Reasoning {
    /// Adds a delta; returns the text to show.
    pub(super) fn take(&mut self, piece: ReasoningDelta) -> Option<String> {
        let ReasoningDelta { reasoning_content, reasoning, details, chunks, is_whole } = piece;
        if reasoning_content.is_none() && reasoning.is_none() && details.is_none() && chunks.is_empty() {
            return None;
        }
        let shown = |text: Option<Box<str>>, field| text.filter(|text| !text.is_empty()).map(|text| (field, text));
        let plain = shown(reasoning_content, CONTENT).or_else(|| shown(reasoning, PLAIN));
        self.field = plain.as_ref().map(|(field, _)| *field).or(self.field);
        let shown =
            plain.map_or_else(|| text_of(details.as_deref().unwrap_or_default(), &chunks), |(_, text)| text.into());
        if let Some(details) = details {
            let kept = self.details.get_or_insert_default();
            for detail in details {
                grow(kept, detail, is_whole, continues_detail);
            }
        }
        for chunk in chunks {
            grow(&mut self.chunks, chunk, is_whole, continues_chunk);
        }
        self.text += &shown;
        (!shown.is_empty()).then_some(shown)
    }

    /// Returns the part of the thoughts, if any, with the data that its server expects back; `calls` is whether the
    /// answer has tool calls.
    pub(super) fn into_part(self, dialect: &Dialect, model: &str, calls: bool) -> Option<ResponsePart> {
        let data = match dialect.replay {
            Replay::Never => None,
            Replay::Field | Replay::Always(_) => self.field.map(|field| json!({ "model": model, "field": field })),
            // Some models require even an empty list back with the calls after it.
            Replay::Details => (self.details.filter(|details| calls || !details.is_empty()))
                .map(|details| json!({ "model": model, "details": details })),
            Replay::Chunks => (!self.chunks.is_empty()).then(|| json!({ "chunks": self.chunks })),
        };
        if self.text.is_empty() && data.is_none() {
            return None;
        }
        let provider_data = data.map(|data| ProviderData::new(dialect.server.provider, data));
        Some(ResponsePart::Thinking(Thinking { provider_data, ..Thinking::new(self.text) }))
    }
}

/// Adds a delta to a list: to its last element if it continues that, or else as a new element.
fn grow(kept: &mut Vec<Value>, piece: Value, is_whole: bool, continues: fn(&mut Value, &Value) -> bool) {
    let is_continued = !is_whole && kept.last_mut().is_some_and(|last| continues(last, &piece));
    if !is_continued {
        kept.push(piece);
    }
}

/// Adds a detail to the previous one, if it continues that.
fn continues_detail(last: &mut Value, piece: &Value) -> bool {
    let key = match piece["type"].as_str() {
        Some("reasoning.text") => "text",
        Some("reasoning.summary") => "summary",
        _ => return false,
    };
    let more = piece[key].as_str().unwrap_or_default();
    let is_signed = last["signature"].is_string() && !more.is_empty();
    if last["type"] != piece["type"] || last["index"] != piece["index"] || is_signed {
        return false;
    }
    push(last, key, more);
    fill(last, piece);
    true
}

/// Adds a chunk of a thought to the previous one, unless that is closed or signed.
fn continues_chunk(last: &mut Value, piece: &Value) -> bool {
    if last["closed"] == true || last["signature"].is_string() {
        return false;
    }
    let (Some(more), Some(_)) = (piece["thinking"].as_array(), last["thinking"].as_array()) else { return false };
    fill(last, piece);
    let Some(shown) = last["thinking"].as_array_mut() else { return false };
    for element in more {
        let same = shown.last_mut().filter(|last| last["type"] == "text" && element["type"] == "text");
        match (same, element["text"].as_str()) {
            (Some(last), Some(more)) => push(last, "text", more),
            _ => shown.push(element.clone()),
        }
    }
    true
}

/// Appends to a string field.
fn push(last: &mut Value, key: &str, more: &str) {
    match last.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ if more.is_empty() => {}
        _ => last[key] = more.into(),
    }
}

/// Adds the fields of a delta that are missing.
fn fill(last: &mut Value, piece: &Value) {
    let (Some(last), Some(piece)) = (last.as_object_mut(), piece.as_object()) else { return };
    for (key, value) in piece {
        if last.get(key).is_none_or(Value::is_null) {
            last.insert(key.clone(), value.clone());
        }
    }
}

/// Returns the text of thoughts that are details or chunks.
fn text_of(details: &[Value], chunks: &[Value]) -> String {
    let mut text: String = details.iter().map(text_of_detail).collect();
    text.extend(chunks.iter().map(text_of_chunk));
    text
}

fn text_of_detail(detail: &Value) -> &str {
    detail["text"].as_str().or_else(|| detail["summary"].as_str()).unwrap_or_default()
}

fn text_of_chunk(chunk: &Value) -> String {
    match &chunk["thinking"] {
        Value::String(text) => text.clone(),
        shown => shown.as_array().into_iter().flatten().filter_map(|element| element["text"].as_str()).collect(),
    }
}

/// The thoughts of an earlier answer that are sent back.
#[derive(Debug, Default)]
pub(super) struct Replayed<'a> {
    pub(super) reasoning_content: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) details: Option<Vec<&'a Value>>,
    pub(super) chunks: Vec<&'a Value>,
}

impl<'a> Replayed<'a> {
    /// Returns the thoughts of an answer that are sent back to the server of `dialect` for `model`.
    pub(super) fn from_parts(parts: &'a [ResponsePart], dialect: &Dialect, model: &str) -> Self {
        let mut replayed = Self::default();
        for part in parts {
            let ResponsePart::Thinking(thought) = part else { continue };
            let data = thought.provider_data.as_ref().and_then(|data| data.of(dialect.server.provider));
            if let Some(data) = data {
                replayed.add(thought, data, dialect.replay, model);
            }
        }
        if let Replay::Always(missing) = dialect.replay {
            let shown = replayed.reasoning_content.take().filter(|shown| !shown.is_empty());
            replayed.reasoning_content = shown.or_else(|| Some(missing.to_owned()));
        }
        replayed
    }

    fn add(&mut self, thought: &Thinking, data: &'a Value, replay: Replay, model: &str) {
        match replay {
            // Data of older versions has no model, and is sent to any.
            Replay::Field if data.get("model").is_some_and(|of| of != model) => {}
            Replay::Field if data["field"] == PLAIN => *self.reasoning.get_or_insert_default() += &thought.text,
            Replay::Field | Replay::Always(_) => *self.reasoning_content.get_or_insert_default() += &thought.text,
            Replay::Details if data["model"] == model => {
                self.details.get_or_insert_default().extend(data["details"].as_array().into_iter().flatten());
            }
            Replay::Details | Replay::Never => {}
            Replay::Chunks => self.chunks.extend(data["chunks"].as_array().into_iter().flatten()),
        }
    }
}
