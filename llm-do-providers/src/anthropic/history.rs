//! Converts a conversation to messages; blocks of the model go back unchanged.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks>. The data of a part,
//! which `stream` writes, is read only here:
//!
//! | Part | Data |
//! | --- | --- |
//! | thinking | the block without the thought; or the whole block, where the thought is encrypted |
//! | tool call | what the block holds beside id, name and input |
//! | server-side tool | `use`, its block without name and input, and `result`, the block after it without content |
//! | opaque | a whole block; `citations` of the text before it; or data that is not part of a message: `container`, `refusal` |

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::thinking::answer;
use super::wire::{Block, Field, Input, MessageParam, Rebuilt, Role};
use super::{PROVIDER, parts, programs};
use crate::error::ProviderError;
use crate::message::{Message, ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall};
use crate::model::{Json, JsonWriter};
use crate::programs::Programs;
use crate::sent_history::{Answered, Arguments, CONTINUE, Repeats, Step, arguments, call_id, steps, tool_name};

/// The fields of a call that are not kept in its data.
const OWN: [&str; 4] = ["type", "id", "name", "input"];
/// The maximum nesting depth of arguments; the API documents no limit.
const MAX_DEPTH: usize = 64;

/// Returns the messages with alternating roles, results first, since they must follow their calls. Thoughts are sent
/// only from the message `thoughts_from` on.
pub(super) fn messages<'a>(
    messages: &'a [Message],
    thoughts_from: usize,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<MessageParam<'a>>, ProviderError> {
    let outline = writer.outline(messages);
    let mut turns = Vec::with_capacity(messages.len());
    let mut programs = Programs::ALL;
    for (number, step) in steps(messages).enumerate() {
        let place = step.place();
        if (number == 0 || matches!(step, Step::User(..)))
            && let Some(place) = place
        {
            programs = Programs::in_turn(messages, place, true, programs::links);
        }
        // Which programs are left out depends on the rest of the turn, so this JSON is not cached.
        let mut changing = JsonWriter::default();
        let writer = if programs.are_all() { &mut *writer } else { &mut changing };
        let is_for_code = |result: &Answered<'_>| programs::caller(result.call).is_some_and(|id| programs.has(id));
        let (mut content, mut has_code) = (Vec::new(), false);
        let role = match step {
            Step::Answer(place, parts) => {
                let with_thoughts = place >= thoughts_from;
                writer.message(place, with_thoughts, &mut content, || {
                    let repeats = |number| outline.repeats(place, number);
                    Ok(assistant(parts, repeats, &programs, with_thoughts))
                })?;
                Role::Assistant
            }
            Step::User(place, parts) => {
                writer.message(place, false, &mut content, || parts::user(parts))?;
                Role::User
            }
            Step::Results(results) => {
                has_code = results.calls().filter_map(programs::caller).any(|id| programs.has(id));
                writer.message(place, false, &mut content, || {
                    Ok(parts::results(&results.answered(&outline), is_for_code))
                })?;
                Role::User
            }
        };
        push_content(&mut turns, role, content, has_code);
    }
    Ok(turns)
}

/// Appends a user message if the conversation ends with an answer that cannot be continued: "final assistant content
/// cannot end with trailing whitespace". Newer models, and models that think, cannot continue any answer: "The
/// conversation must end with a user message."
pub(super) fn end_with_user(messages: &mut Vec<MessageParam<'_>>, continues_answers: bool) {
    let Some(last) = messages.last().filter(|last| last.role == Role::Assistant) else { return };
    if !continues_answers || last.content.last().is_some_and(ends_in_space) {
        push_content(messages, Role::User, vec![Json::New(Block::text(CONTINUE))], false);
    }
}

fn ends_in_space(block: &Json<Block<'_>>) -> bool {
    let block = serde_json::to_value(block).unwrap_or_default();
    block["text"].as_str().is_some_and(|text| text.ends_with(char::is_whitespace))
}

fn push_content<'a>(
    messages: &mut Vec<MessageParam<'a>>,
    role: Role,
    content: Vec<Json<Block<'a>>>,
    is_for_code: bool,
) {
    match messages.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => {
            last.content.extend(content);
            last.is_for_code |= is_for_code;
        }
        _ => messages.push(MessageParam { role, content, is_for_code }),
    }
}

/// Returns the blocks of an answer, with or without its thoughts. Parts of other providers are left out, and so are
/// thoughts at its end, which the API refuses.
///
/// Uses of server-side tools in `programs` are sent back with their results; calls of other programs are sent as the
/// model's own. A use whose id is already in the history is left out: "`tool_use` ids must be unique".
pub(super) fn assistant<'a>(
    parts: &'a [ResponsePart],
    repeats: impl Fn(usize) -> Repeats,
    programs: &Programs<'_>,
    with_thoughts: bool,
) -> Vec<Block<'a>> {
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
            ResponsePart::ToolCall(made) => blocks.push(call(made, repeats(place).call, programs)),
            ResponsePart::ServerSideTool(_) | ResponsePart::Opaque(_)
                if !programs::goes_back(part, programs) || repeats(place).item => {}
            ResponsePart::ServerSideTool(used) => blocks.extend(server_side(used)),
            ResponsePart::Opaque(data) => blocks.extend(opaque(data)),
            ResponsePart::Thinking(_) | ResponsePart::Attachment(_) => {}
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

/// Returns the container in which code of the current turn ran, since code may wait there for the results of its calls.
pub(super) fn current_container(messages: &[Message]) -> Option<&str> {
    let [before @ .., Message::Tool { .. }] = messages else { return None };
    let turn = before.iter().rev().take_while(|message| !matches!(message, Message::User { .. }));
    turn.filter_map(answer).find_map(container)
}

/// Returns the container in which an answer ran code, if any.
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
        if data["signature"].as_str().is_none_or(str::is_empty) {
            return None;
        }
        let fields = vec![("thinking", Field::Text(&thought.text))];
        return Some(Block::Rebuilt(Rebuilt { kept: data.as_object()?, fields }));
    }
    (data["type"] == "redacted_thinking").then_some(Block::Raw(data))
}

/// Returns a call. The API accepts only objects as arguments, so other values are wrapped in one.
fn call<'a>(call: &'a ToolCall, repeat: u32, programs: &Programs<'_>) -> Block<'a> {
    let input = match arguments(&call.arguments, MAX_DEPTH) {
        Arguments::Object(object) => match serde_json::from_str::<&RawValue>(object) {
            Ok(written) => Input::Written(written),
            Err(_) => Input::Instead(json!({ "invalid_json": object })),
        },
        Arguments::Nothing => Input::Instead(json!({})),
        Arguments::NotAnObject(text) => Input::Instead(json!({ "not_an_object": text })),
        Arguments::Invalid(text) => Input::Instead(json!({ "invalid_json": text })),
    };
    // Data with fields of the call itself belongs to another part.
    let rest = object(call.provider_data.as_ref()).filter(|rest| !OWN.iter().any(|own| rest.contains_key(*own)));
    let mut rest = rest.map(Cow::Borrowed);
    if let Some(rest) = &mut rest
        && programs::caller(call).is_some_and(|id| !programs.has(id))
    {
        rest.to_mut().shift_remove("caller");
    }
    Block::tool_use(call_id(&call.id, repeat, parts::IDS), tool_name(&call.name), input, rest)
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
    let none = ["citations", "container", "refusal", "thinking", "redacted_thinking"];
    let is_block = data["type"].as_str().is_some_and(|kind| !none.contains(&kind));
    is_block.then_some(Block::Raw(data))
}
