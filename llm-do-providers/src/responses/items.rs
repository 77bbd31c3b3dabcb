//! Converts a conversation to the items of the API: its own items go back unchanged, in their place.

use std::borrow::Cow;

use serde_json::Value;

use super::wire::{CreatedItem, Item, Output, Part};
use super::{PROVIDER, tools};
use crate::attachment::Attachment;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{Message, ProviderData, ResponsePart, ToolCall, ToolResult, UserPart};
use crate::model::{Json, JsonWriter, Request, ToolSpec};
use crate::openai::{Base64, DataUrl, arguments};

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
    let deferred = request.deferred_tools;
    writer.set_deferred(deferred);
    let mut items = Vec::with_capacity(request.messages.len());
    for (place, message) in request.messages.iter().enumerate() {
        writer.message(place, false, &mut items, || match message {
            Message::User { parts } => Ok(vec![user(parts)?]),
            Message::Assistant { parts } => Ok(answer(parts, deferred, may_think)),
            Message::Tool { results } => results.iter().map(output).collect(),
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

fn output(result: &ToolResult) -> Result<Item<'_>, ProviderError> {
    let ToolResult { call_id, content, attachments, .. } = result;
    let output = if attachments.is_empty() {
        Output::Text(content)
    } else {
        let text = (!content.is_empty()).then(|| Ok(Part::InputText { text: content.into() }));
        Output::Parts(text.into_iter().chain(attachments.iter().map(file)).collect::<Result<_, _>>()?)
    };
    Ok(Item::Created(CreatedItem::FunctionCallOutput { call_id, output }))
}

/// Returns an answer: thoughts and tool uses of other providers are left out.
///
/// For a model that does not think, an answer with thoughts is sent like that of another provider: it refuses the
/// thoughts, and the API refuses items, by their ids, whose thought is missing. A call of a `deferred` tool needs its
/// namespace, whichever model made it.
fn answer<'a>(parts: &'a [ResponsePart], deferred: &[ToolSpec], may_think: bool) -> Vec<Item<'a>> {
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
                items.push(call(made, namespace, own(made.provider_data.as_ref())));
            }
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

fn call<'a>(call: &'a ToolCall, namespace: Option<String>, own: Option<&'a Value>) -> Item<'a> {
    let id = own.and_then(|data| data["id"].as_str());
    let (call_id, name) = (call.id.as_str(), call.name.as_str());
    Item::Created(CreatedItem::FunctionCall { id, call_id, name, namespace, arguments: arguments(&call.arguments) })
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
