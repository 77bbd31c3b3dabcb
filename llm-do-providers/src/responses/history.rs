//! Converts a conversation to items; items of the API go back unchanged, in their order.

use serde_json::Value;

use super::parts::{file_or_note, user_part};
use super::wire::{CreatedItem, Item, Output, Part};
use super::{PROVIDER, programs, tools};
use crate::attachment::Base64;
use crate::error::ProviderError;
use crate::message::{ProviderData, ResponsePart, ToolCall, UserPart};
use crate::model::{Json, JsonWriter, Request, ToolSpec};
use crate::openai::object_text;
use crate::programs::{Programs, text_for_program};
use crate::sent_history::{Answered, EMPTY, IdRule, Repeats, Step, call_id, steps, tool_name};

/// The ids of calls, by <https://platform.openai.com/docs/api-reference/responses/create>, read 2026-11-28: 1 to 64 characters.
const IDS: IdRule = IdRule::Printable(64);

/// Returns the items of a conversation; `may_think` is whether the model may think.
///
/// # Errors
///
/// Returns an error if it has a file that the API does not support.
pub(super) fn input<'a>(
    request: &Request<'a>,
    may_think: bool,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<Item<'a>>>, ProviderError> {
    let Request { deferred_tools: deferred, messages, .. } = *request;
    writer.set_deferred(deferred);
    let are_taken = may_think && request.takes_programs();
    let outline = writer.outline(messages);
    let mut items = Vec::with_capacity(messages.len());
    let mut programs = Programs::ALL;
    for (number, step) in steps(messages).enumerate() {
        let place = step.place();
        if (number == 0 || matches!(step, Step::User(..)))
            && let Some(place) = place
        {
            programs = Programs::in_turn(messages, place, are_taken, programs::link);
        }
        // Which programs are left out depends on the rest of the turn, so this JSON is not cached.
        let mut changing = JsonWriter::default();
        let writer = if programs.are_all() { &mut *writer } else { &mut changing };
        writer.message(place, false, &mut items, || match step {
            Step::User(_, parts) => Ok(vec![user(parts)?]),
            Step::Answer(place, parts) => {
                let repeats = |number| outline.repeats(place, number);
                Ok(answer(parts, &repeats, deferred, may_think, &programs))
            }
            Step::Results(results) => {
                Ok(results.answered(&outline).iter().map(|result| output(result, &programs)).collect())
            }
        })?;
    }
    Ok(items)
}

/// Returns a user's message.
fn user(parts: &[UserPart]) -> Result<Item<'_>, ProviderError> {
    let mut content = parts.iter().filter_map(user_part).collect::<Result<Vec<_>, _>>()?;
    if content.is_empty() {
        content.push(Part::InputText { text: EMPTY.into() });
    }
    Ok(Item::Created(CreatedItem::Message { role: "user", content, rest: None }))
}

/// Returns the result of a call, for the model or for the program that made the call.
fn output<'a>(result: &Answered<'a>, programs: &Programs<'_>) -> Item<'a> {
    let caller = programs::caller_of(result.call).filter(|caller| programs::goes_back(caller, programs));
    let (content, attachments) = (result.content(), result.attachments());
    let output = if caller.is_some() {
        Output::Text(text_for_program(content, attachments))
    } else if attachments.is_empty() {
        Output::Text(content.into())
    } else {
        let text = (!content.is_empty()).then(|| Part::InputText { text: content.into() });
        Output::Parts(text.into_iter().chain(attachments.iter().map(file_or_note)).collect())
    };
    let call_id = call_id(&result.call.id, result.repeats.call, IDS);
    Item::Created(CreatedItem::FunctionCallOutput { call_id, output, caller })
}

/// Returns an answer: thoughts and tool uses of other providers are left out.
///
/// An answer with thoughts is sent to a model that does not think like an answer of another provider: the model refuses
/// thoughts, and the API refuses items with ids whose thought is missing. So is an answer with a thought or a tool use
/// that is already in the history. A call of a `deferred` tool needs its namespace, also if another model made it.
/// Programs in `programs` are sent back; calls of other programs are sent as the model's own.
pub(super) fn answer<'a>(
    parts: &'a [ResponsePart],
    repeats: &dyn Fn(usize) -> Repeats,
    deferred: &[ToolSpec],
    may_think: bool,
    programs: &Programs<'_>,
) -> Vec<Item<'a>> {
    let is_repeated = |(number, part): (usize, &ResponsePart)| is_whole(part) && repeats(number).item;
    let is_foreign = (!may_think && parts.iter().any(is_thought)) || parts.iter().enumerate().any(is_repeated);
    let own = |data| own(data).filter(|_| !is_foreign);
    let whole = |data| own(data).filter(|item| can_return(item, may_think));
    let mut items = Vec::with_capacity(parts.len());
    let mut parts = parts.iter().enumerate().peekable();
    while let Some((number, part)) = parts.next() {
        match part {
            ResponsePart::Text { text } => items.extend(assistant_message(text, None)),
            ResponsePart::Thinking(thought) => {
                items.extend(whole(thought.provider_data.as_ref()).map(Item::Received));
            }
            ResponsePart::ToolCall(made) => {
                let namespace = tools::namespace_of(deferred, &made.name);
                items.push(call(made, repeats(number), namespace, own(made.provider_data.as_ref()), programs));
            }
            ResponsePart::ServerSideTool(_) if programs::is_left_out(part, programs) => {}
            ResponsePart::ServerSideTool(used) => {
                let Some(item) = whole(used.provider_data.as_ref()) else { continue };
                match parts.next_if(|(_, next)| matches!(next, ResponsePart::Attachment(_))) {
                    Some((_, ResponsePart::Attachment(image))) => {
                        items.push(Item::Image { rest: item, result: Base64(image) });
                    }
                    _ => items.push(Item::Received(item)),
                }
            }
            ResponsePart::Opaque(data) => {
                let Some(item) = own(Some(data)) else { continue };
                match parts.next_if(|(_, next)| is_head(item) && matches!(next, ResponsePart::Text { .. })) {
                    Some((_, ResponsePart::Text { text })) => {
                        items.extend(assistant_message(text, (!repeats(number).item).then_some(item)));
                    }
                    _ => items.extend(whole(Some(data)).map(Item::Received)),
                }
            }
            ResponsePart::Attachment(_) => {}
        }
    }
    without_last_thoughts(items)
}

/// Removes the thoughts at the end of an answer, such as one that broke off: "Item of type 'reasoning' was provided
/// without its required following item."
fn without_last_thoughts(mut items: Vec<Item<'_>>) -> Vec<Item<'_>> {
    while items.last().is_some_and(is_thinking) {
        items.pop();
    }
    items
}

fn is_thinking(item: &Item<'_>) -> bool {
    match item {
        Item::Received(item) => item["type"] == "reasoning",
        Item::Image { rest, .. } => rest["type"] == "reasoning",
        Item::Created(_) => false,
    }
}

/// Whether an item can be sent back unchanged. A thought can be sent to a model that thinks if it has content: with
/// `store: false`, the server does not know its id.
fn can_return(item: &Value, may_think: bool) -> bool {
    if item["type"] != "reasoning" {
        return !is_head(item);
    }
    let has_content = item["content"].as_array().is_some_and(|pieces| !pieces.is_empty());
    may_think && (has_content || item["encrypted_content"].as_str().is_some_and(|content| !content.is_empty()))
}

/// Whether a part is sent back as the server's whole item, not as a new item with its id.
fn is_whole(part: &ResponsePart) -> bool {
    match part {
        ResponsePart::Thinking(_) | ResponsePart::ServerSideTool(_) => true,
        ResponsePart::Opaque(data) => own(Some(data)).is_some_and(|item| !is_head(item)),
        ResponsePart::Text { .. } | ResponsePart::ToolCall(_) | ResponsePart::Attachment(_) => false,
    }
}

/// Whether an item contains the fields of a message other than its text, which is the next part.
fn is_head(item: &Value) -> bool {
    item.get("type").is_none()
}

/// Returns a text of the model; an empty one is left out.
fn assistant_message<'a>(text: &'a str, rest: Option<&'a Value>) -> Option<Item<'a>> {
    let content = vec![Part::OutputText { text, annotations: [] }];
    (!text.is_empty()).then_some(Item::Created(CreatedItem::Message { role: "assistant", content, rest }))
}

fn call<'a>(
    call: &'a ToolCall,
    repeats: Repeats,
    namespace: Option<String>,
    own: Option<&'a Value>,
    programs: &Programs<'_>,
) -> Item<'a> {
    let id = own.filter(|_| !repeats.item).and_then(|data| data["id"].as_str());
    let caller = own.and_then(programs::caller).filter(|caller| programs::goes_back(caller, programs));
    let (call_id, name) = (call_id(&call.id, repeats.call, IDS), tool_name(&call.name));
    let arguments = object_text(&call.arguments);
    Item::Created(CreatedItem::FunctionCall { id, call_id, name, namespace, arguments, caller })
}

fn is_thought(part: &ResponsePart) -> bool {
    matches!(part, ResponsePart::Thinking(thought) if own(thought.provider_data.as_ref()).is_some())
}

fn own(data: Option<&ProviderData>) -> Option<&Value> {
    data.and_then(|data| data.of(PROVIDER)).filter(|data| data.is_object())
}
