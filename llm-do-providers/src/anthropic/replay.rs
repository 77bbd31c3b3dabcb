//! Earlier answers of a model, as the blocks that its server expects back: unchanged.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks>. What the answer
//! module keeps in a part's data is read only here:
//!
//! | Part | Data |
//! | --- | --- |
//! | thinking | the block without the thought; or the whole block, where the thought is encrypted |
//! | tool call | what the block holds beside id, name and input |
//! | server-side tool | `use`, its block without name and input, and `result`, the block after it without content |
//! | opaque | a whole block; `citations` of the text before it; or data that is not part of a message: `container`, `refusal` |

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::wire::{Block, Field, Input, Rebuilt};
use super::{PROVIDER, parts};
use crate::message::{ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall};

/// Returns the blocks of an answer, with or without its thoughts; parts of other providers are left out, and so is a
/// thought at its end, where the API takes none.
///
/// A use of a server-side tool without its result is kept only if the turn is in progress, so that the server resumes it.
pub(super) fn assistant(parts: &[ResponsePart], is_in_progress: bool, with_thoughts: bool) -> Vec<Block<'_>> {
    let mut blocks = Vec::with_capacity(parts.len());
    let mut thoughts = 0;
    for (place, part) in parts.iter().enumerate() {
        let before = blocks.len();
        match part {
            ResponsePart::Text { text } if text.trim().is_empty() => {}
            ResponsePart::Text { text } => blocks.push(match parts.get(place + 1).and_then(citations) {
                Some(citations) => Block::cited(text, citations),
                None => Block::text(text),
            }),
            ResponsePart::Thinking(thought) if with_thoughts => blocks.extend(thinking(thought)),
            ResponsePart::ToolCall(made) => blocks.push(call(made)),
            ResponsePart::ServerSideTool(used) if is_in_progress || is_answered(used, parts) => {
                blocks.extend(server_side(used));
            }
            ResponsePart::Thinking(_) | ResponsePart::ServerSideTool(_) | ResponsePart::Attachment(_) => {}
            ResponsePart::Opaque(data) => blocks.extend(opaque(data)),
        }
        match part {
            ResponsePart::Thinking(_) => thoughts += blocks.len() - before,
            _ if blocks.len() > before => thoughts = 0,
            _ => {}
        }
    }
    blocks.truncate(blocks.len() - thoughts);
    blocks
}

/// Returns the container in which an answer ran code, if it did.
pub(super) fn container(parts: &[ResponsePart]) -> Option<&str> {
    parts.iter().rev().find_map(|part| match part {
        ResponsePart::Opaque(data) => data.of(PROVIDER).filter(|data| data["type"] == "container")?["id"].as_str(),
        _ => None,
    })
}

fn object(data: Option<&ProviderData>) -> Option<&Map<String, Value>> {
    data?.of(PROVIDER)?.as_object()
}

fn citations(part: &ResponsePart) -> Option<&Value> {
    let ResponsePart::Opaque(data) = part else { return None };
    let data = data.of(PROVIDER)?;
    (data["type"] == "citations").then(|| &data["citations"])
}

fn thinking(thought: &Thinking) -> Option<Block<'_>> {
    let data = thought.provider_data.as_ref()?.of(PROVIDER)?;
    if data["type"] == "thinking" {
        let fields = vec![("thinking", Field::Text(&thought.text))];
        return Some(Block::Rebuilt(Rebuilt { kept: data.as_object()?, fields }));
    }
    Some(Block::Raw(data))
}

/// A call whose arguments are not an object is sent with an object that holds them: the API accepts only objects.
fn call(call: &ToolCall) -> Block<'_> {
    let input = match serde_json::from_str::<&RawValue>(&call.arguments) {
        Ok(written) if written.get().starts_with('{') => Input::Written(written),
        _ if call.arguments.trim().is_empty() => Input::Instead(json!({})),
        Ok(_) => Input::Instead(json!({ "not_an_object": call.arguments })),
        Err(_) => Input::Instead(json!({ "invalid_json": call.arguments })),
    };
    Block::tool_use(parts::id(&call.id), &call.name, input, object(call.provider_data.as_ref()))
}

/// Whether the result of a use is present, in the same part or in another part of its answer.
fn is_answered(used: &ServerSideToolUse, parts: &[ResponsePart]) -> bool {
    let Some(data) = object(used.provider_data.as_ref()) else { return false };
    let id = data.get("use").map(|used| &used["id"]);
    let is_result = |part: &ResponsePart| match part {
        ResponsePart::Opaque(data) => data.of(PROVIDER).is_some_and(|data| id == data.get("tool_use_id")),
        _ => false,
    };
    data.contains_key("result") || (id.is_some() && parts.iter().any(is_result))
}

fn server_side(used: &ServerSideToolUse) -> Vec<Block<'_>> {
    let Some(data) = object(used.provider_data.as_ref()) else { return Vec::new() };
    let kept = |name: &str| data.get(name).and_then(Value::as_object);
    let asked = kept("use").map(|kept| {
        let fields = vec![("name", Field::Text(&used.name)), ("input", Field::Json(&used.input))];
        Block::Rebuilt(Rebuilt { kept, fields })
    });
    let found = kept("result")
        .map(|kept| Block::Rebuilt(Rebuilt { kept, fields: vec![("content", Field::Json(&used.output))] }));
    asked.into_iter().chain(found).collect()
}

fn opaque(data: &ProviderData) -> Option<Block<'_>> {
    let data = data.of(PROVIDER)?;
    let is_block = !matches!(data["type"].as_str(), None | Some("citations" | "container" | "refusal"));
    is_block.then_some(Block::Raw(data))
}
