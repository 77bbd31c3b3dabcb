//! Converts a conversation to the items of the API: its own items go back unchanged, in their place.

use std::borrow::Cow;

use serde_json::Value;

use super::wire::{CreatedItem, Item, Output, Part};
use super::{PROVIDER, programs, tools};
use crate::attachment::Attachment;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{Message, ProviderData, ResponsePart, ToolCall, ToolResult, UserPart};
use crate::model::{Json, JsonWriter, Request, ToolSpec};
use crate::openai::{Base64, DataUrl, arguments};
use crate::programs::{Programs, calls_before, text_for_program};

/// The name of a PDF without one, since the server requires it.
const UNNAMED_PDF: &str = "attachment.pdf";

/// Returns the items of a conversation, for a model that may think or one that does not.
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
    let (mut items, mut programs) = (Vec::with_capacity(messages.len()), Programs::ALL);
    for (place, message) in messages.iter().enumerate() {
        if place == 0 || matches!(message, Message::User { .. }) {
            programs = Programs::of_turn(messages, place, are_taken, programs::link);
        }
        // What is left out depends on the rest of the turn.
        let mut changing = JsonWriter::default();
        let writer = if programs.are_all() { &mut *writer } else { &mut changing };
        writer.message(place, false, &mut items, || match message {
            Message::User { parts } => Ok(vec![user(parts)?]),
            Message::Assistant { parts } => Ok(answer(parts, deferred, may_think, &programs)),
            Message::Tool { results } => {
                let program = |result: &ToolResult| {
                    let call = calls_before(messages, place).find(|call| call.id == result.call_id)?;
                    programs::caller_of(call).filter(|caller| programs::goes_back(caller, &programs))
                };
                results.iter().map(|result| output(result, program(result))).collect()
            }
        })?;
    }
    Ok(items)
}

fn user(parts: &[UserPart]) -> Result<Item<'_>, ProviderError> {
    let content = parts.iter().map(part).collect::<Result<_, _>>()?;
    Ok(Item::Created(CreatedItem::Message { role: "user", content, rest: None }))
}

fn part(part: &UserPart) -> Result<Part<'_>, ProviderError> {
    match part {
        UserPart::Text { text } => Ok(Part::InputText { text: text.into() }),
        UserPart::Attachment(attachment) => file(attachment),
    }
}

/// Returns the result of a call, for the model or for the program that made the call.
fn output<'a>(result: &'a ToolResult, caller: Option<&'a Value>) -> Result<Item<'a>, ProviderError> {
    let ToolResult { call_id, content, attachments, .. } = result;
    let output = if caller.is_some() {
        Output::Text(text_for_program(result))
    } else if attachments.is_empty() {
        Output::Text(content.into())
    } else {
        let text = (!content.is_empty()).then(|| Ok(Part::InputText { text: content.into() }));
        Output::Parts(text.into_iter().chain(attachments.iter().map(file)).collect::<Result<_, _>>()?)
    };
    Ok(Item::Created(CreatedItem::FunctionCallOutput { call_id, output, caller }))
}

/// Returns an answer: thoughts and tool uses of other providers are left out.
///
/// For a model that does not think, an answer with thoughts is sent like that of another provider: it refuses the
/// thoughts, and the API refuses items, by their ids, whose thought is missing. A call of a `deferred` tool needs its
/// namespace, whichever model made it. Programs go back as `programs` has them; the calls of other programs go back as the model's own.
pub(super) fn answer<'a>(
    parts: &'a [ResponsePart],
    deferred: &[ToolSpec],
    may_think: bool,
    programs: &Programs<'_>,
) -> Vec<Item<'a>> {
    let mut items = Vec::with_capacity(parts.len());
    let is_foreign = !may_think && parts.iter().any(is_thought);
    let own = |data| own(data).filter(|_| !is_foreign);
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        match part {
            ResponsePart::Text { text } => items.push(assistant_message(text, None)),
            ResponsePart::Thinking(thought) => items.extend(own(thought.provider_data.as_ref()).map(theirs)),
            ResponsePart::ToolCall(made) => {
                let namespace = tools::namespace_of(deferred, &made.name);
                items.push(call(made, namespace, own(made.provider_data.as_ref()), programs));
            }
            ResponsePart::ServerSideTool(_) if programs::is_left_out(part, programs) => {}
            ResponsePart::ServerSideTool(used) => {
                let Some(item) = own(used.provider_data.as_ref()) else { continue };
                match parts.next_if(|next| matches!(next, ResponsePart::Attachment(_))) {
                    Some(ResponsePart::Attachment(image)) => {
                        items.push(Item::Image { rest: item, result: Base64(image) });
                    }
                    _ => items.push(theirs(item)),
                }
            }
            ResponsePart::Opaque(data) => {
                let Some(item) = own(Some(data)) else { continue };
                match parts.next_if(|next| is_head(item) && matches!(next, ResponsePart::Text { .. })) {
                    Some(ResponsePart::Text { text }) => items.push(assistant_message(text, Some(item))),
                    _ if is_head(item) => {}
                    _ => items.push(theirs(item)),
                }
            }
            ResponsePart::Attachment(_) => {}
        }
    }
    items
}

/// Whether it holds the fields of a message other than its text, which follows.
fn is_head(item: &Value) -> bool {
    item.get("type").is_none()
}

fn assistant_message<'a>(text: &'a str, rest: Option<&'a Value>) -> Item<'a> {
    let content = vec![Part::OutputText { text, annotations: [] }];
    Item::Created(CreatedItem::Message { role: "assistant", content, rest })
}

fn call<'a>(
    call: &'a ToolCall,
    namespace: Option<String>,
    own: Option<&'a Value>,
    programs: &Programs<'_>,
) -> Item<'a> {
    let id = own.and_then(|data| data["id"].as_str());
    let caller = own.and_then(programs::caller).filter(|caller| programs::goes_back(caller, programs));
    let (call_id, name, arguments) = (call.id.as_str(), call.name.as_str(), arguments(&call.arguments));
    Item::Created(CreatedItem::FunctionCall { id, call_id, name, namespace, arguments, caller })
}

fn is_thought(part: &ResponsePart) -> bool {
    matches!(part, ResponsePart::Thinking(thought) if own(thought.provider_data.as_ref()).is_some())
}

fn own(data: Option<&ProviderData>) -> Option<&Value> {
    data.and_then(|data| data.of(PROVIDER))
}

fn theirs(item: &Value) -> Item<'_> {
    Item::Received(Cow::Borrowed(item))
}

/// Returns a file as the kind of part that its media type has.
fn file(attachment: &Attachment) -> Result<Part<'_>, ProviderError> {
    match attachment.essence().as_str() {
        essence if essence.starts_with("image/") => Ok(Part::InputImage { image_url: DataUrl(attachment) }),
        "application/pdf" => {
            let filename = attachment.name().unwrap_or(UNNAMED_PDF);
            Ok(Part::InputFile { filename, file_data: DataUrl(attachment) })
        }
        _ if attachment.is_text() => Ok(Part::InputText { text: attachment.inlined().map_err(invalid)?.into() }),
        _ => Err(invalid(format!(
            "the Responses API does not support {}; convert it to one of image/*, application/pdf, text/* or application/json",
            attachment.described()
        ))),
    }
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, message)
}
