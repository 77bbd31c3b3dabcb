//! Accumulates one block of an answer, and converts it to a part.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::anthropic::PROVIDER;
use crate::anthropic::wire::{Delta, RawBlock};
use crate::message::{ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall};
use crate::model::StreamEvent;

#[derive(Debug)]
pub(super) enum AnswerBlock {
    Text {
        text: String,
        citations: Vec<Value>,
    },
    Thinking {
        text: String,
        kept: RawBlock,
    },
    Call {
        place: usize,
        name: Arc<str>,
        input: PartialInput,
        kept: RawBlock,
    },
    /// A use of a server-side tool.
    Use {
        name: Arc<str>,
        input: PartialInput,
        kept: RawBlock,
    },
    /// A block that is kept unchanged.
    Raw(RawBlock),
    /// A block with an unknown delta, so that it cannot be sent back.
    Unknown,
}

/// The input of a tool, as JSON text that may be incomplete.
#[derive(Debug)]
pub(super) struct PartialInput {
    begun: Value,
    grown: String,
}

impl PartialInput {
    fn take_from(block: &mut RawBlock) -> Self {
        let begun = match block.shift_remove("input") {
            None | Some(Value::Null) => json!({}),
            // Some servers send the JSON as a string.
            Some(Value::String(text)) if text.trim().is_empty() => json!({}),
            Some(Value::String(text)) => return Self { begun: json!({}), grown: text },
            Some(input) => input,
        };
        Self { begun, grown: String::new() }
    }

    /// Returns the JSON text: servers send an empty object and then deltas, or only the object.
    fn text(self) -> String {
        if self.grown.trim().is_empty() { self.begun.to_string() } else { self.grown }
    }

    /// Whether it arrived with the start of the block.
    fn is_begun(&self) -> bool {
        self.begun.as_object().is_some_and(|fields| !fields.is_empty())
    }

    fn value(&self) -> Option<Value> {
        if self.grown.trim().is_empty() { Some(self.begun.clone()) } else { serde_json::from_str(&self.grown).ok() }
    }
}

impl AnswerBlock {
    /// Returns a block at its start, after `calls` calls.
    pub(super) fn new(mut block: RawBlock, calls: usize) -> Self {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                let citations = match block.shift_remove("citations") {
                    Some(Value::Array(citations)) => citations,
                    _ => Vec::new(),
                };
                Self::Text { text: word(&mut block, "text"), citations }
            }
            Some("thinking") => Self::Thinking { text: word(&mut block, "thinking"), kept: block },
            Some("tool_use") => {
                block.shift_remove("type");
                let name = word(&mut block, "name").into();
                Self::Call { place: calls, name, input: PartialInput::take_from(&mut block), kept: block }
            }
            Some("server_tool_use") => {
                let name = word(&mut block, "name").into();
                Self::Use { name, input: PartialInput::take_from(&mut block), kept: block }
            }
            _ => Self::Raw(block),
        }
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }

    pub(super) fn is_nameless_call(&self) -> bool {
        matches!(self, Self::Call { name, .. } if name.is_empty())
    }

    /// Returns the event for its start.
    pub(super) fn shown(&self) -> Option<StreamEvent> {
        match self {
            Self::Text { text, .. } if !text.is_empty() => Some(StreamEvent::Text(text.clone())),
            Self::Thinking { text, .. } if !text.is_empty() => Some(StreamEvent::Thinking(text.clone())),
            Self::Call { place, name, input, .. } if !name.is_empty() => {
                let arguments = if input.is_begun() { input.begun.to_string() } else { input.grown.clone() };
                Some(StreamEvent::ToolCall { index: *place, name: Arc::clone(name), arguments })
            }
            _ => None,
        }
    }

    /// Returns the event for its end: a server-side tool's use.
    pub(super) fn used(&self) -> Option<StreamEvent> {
        let Self::Use { name, input, .. } = self else { return None };
        Some(StreamEvent::ServerSideTool { name: Arc::clone(name), input: input.value()? })
    }

    /// Returns the event for a use whose result arrives.
    pub(super) fn done(&self, result: &Self) -> Option<StreamEvent> {
        let (Self::Use { name, input, kept }, Self::Raw(block)) = (self, result) else { return None };
        (result.answers()? == id(kept)).then_some(())?;
        Some(StreamEvent::ServerSideToolDone { name: Arc::clone(name), input: input.value()?, error: failure(block) })
    }

    /// Adds a delta; returns its event.
    pub(super) fn grow(&mut self, delta: Delta) -> Option<StreamEvent> {
        match (self, delta) {
            (Self::Text { citations, .. }, Delta { citation: Some(citation), .. }) => {
                citations.push(*citation);
                None
            }
            (Self::Text { text, .. }, Delta { text: Some(more), .. }) if !more.is_empty() => {
                text.push_str(&more);
                Some(StreamEvent::Text(more))
            }
            (Self::Thinking { text, .. }, Delta { thinking: Some(more), .. }) if !more.is_empty() => {
                text.push_str(&more);
                Some(StreamEvent::Thinking(more))
            }
            (Self::Thinking { kept, .. }, Delta { signature: Some(signature), .. }) => {
                kept.insert("signature".to_owned(), signature.into());
                None
            }
            (Self::Call { place, name, input, .. }, Delta { partial_json: Some(arguments), .. }) => {
                let arguments = arguments.into_string();
                input.grown.push_str(&arguments);
                let is_named = !name.is_empty();
                is_named.then(|| StreamEvent::ToolCall { index: *place, name: Arc::clone(name), arguments })
            }
            (Self::Use { input, .. }, Delta { partial_json: Some(more), .. }) => {
                input.grown.push_str(&more.into_string());
                None
            }
            (Self::Raw(block), Delta { content: Some(content), .. })
                if block.get("type").is_some_and(|kind| kind == "compaction") =>
            {
                block.insert("content".to_owned(), *content);
                None
            }
            (raw @ Self::Raw(_), _) => {
                *raw = Self::Unknown;
                None
            }
            _ => None,
        }
    }

    /// Returns the usable part of the block once the answer has ended: a cut-off call is dropped, and cut-off thinking is
    /// not sent back.
    pub(super) fn into_finished(self, is_whole: bool) -> Option<Self> {
        match self {
            Self::Unknown => None,
            Self::Call { .. } if !is_whole => None,
            Self::Use { ref input, .. } if !is_whole && input.value().is_none() => None,
            Self::Thinking { text, .. } if !is_whole => Some(Self::Thinking { text, kept: RawBlock::new() }),
            other => Some(other),
        }
    }

    /// The id of the use that a result belongs to.
    fn answers(&self) -> Option<&str> {
        match self {
            Self::Raw(block) => answered(block),
            _ => None,
        }
    }
}

/// Returns the parts of an answer: a result directly after its use is merged into one part; any other keeps its place.
pub(super) fn parts(blocks: Vec<AnswerBlock>) -> Vec<ResponsePart> {
    let mut parts = Vec::with_capacity(blocks.len());
    let mut blocks = blocks.into_iter().peekable();
    while let Some(block) = blocks.next() {
        match block {
            AnswerBlock::Text { text, citations } => {
                parts.extend((!text.is_empty()).then_some(ResponsePart::Text { text }));
                let citations = (!citations.is_empty()).then(|| json!({"type": "citations", "citations": citations}));
                parts.extend(citations.map(opaque));
            }
            AnswerBlock::Thinking { text, kept } => parts.extend(thinking(text, kept)),
            AnswerBlock::Call { name, input, kept, .. } => parts.push(call(&name, input, kept)),
            AnswerBlock::Use { name, input, kept } => {
                let id = id(&kept);
                let result = blocks.next_if(|next| next.answers() == Some(id));
                parts.push(server_side(&name, &input, kept, result));
            }
            AnswerBlock::Raw(block) if block.get("type").is_some_and(|word| word == "redacted_thinking") => {
                parts.push(ResponsePart::Thinking(Thinking::new("").with_provider_data(data(block))));
            }
            AnswerBlock::Raw(block) => parts.push(ResponsePart::Opaque(data(block))),
            AnswerBlock::Unknown => {}
        }
    }
    set_failures(&mut parts);
    parts
}

/// Sets the error of each use whose result is a separate part.
pub(super) fn set_failures(parts: &mut [ResponsePart]) {
    let failed: Vec<_> = parts.iter().filter_map(failed_use).collect();
    for part in parts {
        let ResponsePart::ServerSideTool(used) = part else { continue };
        let data = used.provider_data.as_ref().and_then(|data| data.of(PROVIDER));
        let id = data.and_then(|data| data["use"]["id"].as_str());
        if let Some((_, error)) = failed.iter().find(|(of, _)| Some(of.as_str()) == id) {
            used.error = Some(error.clone());
        }
    }
}

fn failed_use(part: &ResponsePart) -> Option<(String, String)> {
    let ResponsePart::Opaque(data) = part else { return None };
    let block = data.of(PROVIDER)?.as_object()?;
    Some((answered(block)?.to_owned(), failure(block)?))
}

/// Returns the id of the use that a result block belongs to.
fn answered(block: &RawBlock) -> Option<&str> {
    let is_result = block.get("type")?.as_str()?.ends_with("_tool_result");
    if is_result { block.get("tool_use_id")?.as_str() } else { None }
}

/// A thought whose signature was cut off cannot be sent back.
fn thinking(text: String, kept: RawBlock) -> Option<ResponsePart> {
    let is_unsigned = kept.get("signature").is_some_and(|signature| signature == "");
    let thought = Thinking::new(text);
    if kept.is_empty() || is_unsigned {
        return (!thought.text.is_empty()).then_some(ResponsePart::Thinking(thought));
    }
    Some(ResponsePart::Thinking(thought.with_provider_data(data(kept))))
}

fn call(name: &str, input: PartialInput, mut kept: RawBlock) -> ResponsePart {
    let call = ToolCall::new(word(&mut kept, "id"), name, input.text());
    ResponsePart::ToolCall(if kept.is_empty() { call } else { call.with_provider_data(data(kept)) })
}

fn server_side(name: &str, input: &PartialInput, kept: RawBlock, result: Option<AnswerBlock>) -> ResponsePart {
    let mut data = RawBlock::from_iter([("use".to_owned(), Value::Object(kept))]);
    let (mut output, mut error) = (Value::Null, None);
    if let Some(AnswerBlock::Raw(mut result)) = result {
        error = failure(&result);
        output = result.shift_remove("content").unwrap_or_default();
        data.insert("result".to_owned(), Value::Object(result));
    }
    let used = ServerSideToolUse::new(name, input.value().unwrap_or_default(), output).with_error(error);
    ResponsePart::ServerSideTool(used.with_provider_data(self::data(data)))
}

fn id(kept: &RawBlock) -> &str {
    kept.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the error of a use by its result: that of the tool, or of the code that it ran.
fn failure(result: &RawBlock) -> Option<String> {
    let content = result.get("content")?;
    let code = content["return_code"].as_i64().filter(|code| *code != 0);
    content["error_code"].as_str().map(str::to_owned).or(code.map(|code| format!("return code {code}")))
}

fn opaque(data: Value) -> ResponsePart {
    ResponsePart::Opaque(ProviderData::new(PROVIDER, data))
}

fn data(block: RawBlock) -> ProviderData {
    ProviderData::new(PROVIDER, Value::Object(block))
}

/// Removes and returns a string of a block; empty if it is absent.
fn word(block: &mut RawBlock, name: &str) -> String {
    match block.shift_remove(name) {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}
