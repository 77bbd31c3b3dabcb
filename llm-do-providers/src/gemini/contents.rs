//! The conversation; each part of the model's answers goes back as it came, with its signature.

use std::borrow::Cow;

use serde_json::Value;

use super::PROVIDER;
use super::parts::{self, content, text_part};
use super::tool_uses;
use super::wire::{Args, Content, Data, FunctionCall, Part};
use crate::capability::GeminiCapabilities;
use crate::error::ProviderError;
use crate::message::{Message, ProviderData, ResponsePart, ToolCall};
use crate::model::{Json, JsonWriter};

/// What <https://ai.google.dev/gemini-api/docs/thought-signatures> has for calls that Gemini did not make, since version 3
/// refuses those without a signature.
const FOREIGN: &str = "skip_thought_signature_validator";

/// Returns the conversation.
///
/// # Errors
///
/// Returns an error if it has a file that the API does not support.
pub(super) fn contents<'a>(
    messages: &'a [Message],
    capabilities: &GeminiCapabilities,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<Content<'a>>>, ProviderError> {
    let mut contents = Vec::with_capacity(messages.len() + 1);
    let mut answer: &[ResponsePart] = &[];
    let mut begins_with_user = false;
    for (place, message) in messages.iter().enumerate() {
        let is_first = contents.is_empty();
        writer.message(place, false, &mut contents, || match message {
            Message::User { parts } => Ok(content("user", parts::user(parts)?).into_iter().collect()),
            Message::Assistant { parts } => Ok(content("model", model(parts, capabilities)).into_iter().collect()),
            Message::Tool { results } => {
                Ok(parts::results(answer, results, capabilities)?.into_iter().flatten().collect())
            }
        })?;
        if is_first && !contents.is_empty() {
            begins_with_user = !matches!(message, Message::Assistant { .. });
        }
        if let Message::Assistant { parts } = message {
            answer = parts;
        }
    }
    if !begins_with_user {
        let parts = vec![Data::Text(Cow::Borrowed("")).into()];
        contents.insert(0, Json::New(Content { role: Some("user"), parts }));
    }
    Ok(contents)
}

/// Returns the parts of a model's answer.
fn model<'a>(answer: &'a [ResponsePart], capabilities: &GeminiCapabilities) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(answer.len());
    for (place, part) in answer.iter().enumerate() {
        match part {
            ResponsePart::Text { text } => parts.extend(text_part(text)),
            ResponsePart::Thinking(thought) => {
                let signature = thought.provider_data.as_ref().and_then(signature);
                let data = Data::Text(thought.text.as_str().into());
                // Gemini ignores a thought that it did not sign.
                parts.extend(signature.map(|signature| Part { data, thought: true, signature: Some(signature) }));
            }
            ResponsePart::ToolCall(call) => parts.push(function_call(call)),
            ResponsePart::ServerSideTool(used) => parts.extend(tool_uses::parts(used)),
            ResponsePart::Attachment(file) => parts.extend(parts::blob(file).map(Data::Blob).map(Part::from)),
            ResponsePart::Opaque(data) => {
                let signed =
                    place.checked_sub(1).and_then(|before| answer.get(before)).filter(|part| is_signable(part));
                opaque(data, signed.is_some(), &mut parts);
            }
        }
    }
    if let Some(first) = parts.iter_mut().find(|part| part.is_call())
        && capabilities.version_3_rules
    {
        first.signature = first.signature.or(Some(FOREIGN));
    }
    parts
}

/// Whether a part has no field for its signature, so that the signature follows it.
fn is_signable(part: &ResponsePart) -> bool {
    match part {
        ResponsePart::Text { text } => !text.is_empty(),
        ResponsePart::Attachment(file) => parts::blob(file).is_some(),
        _ => false,
    }
}

/// Adds the signature of the part before, or a part that is kept whole.
fn opaque<'a>(data: &'a ProviderData, follows: bool, parts: &mut Vec<Part<'a>>) {
    if let Some(Value::Object(whole)) = data.of(PROVIDER).and_then(|data| data.get("part")) {
        parts.push(Data::Whole(whole).into());
        return;
    }
    let Some(signature) = signature(data) else { return };
    match parts.last_mut().filter(|part| follows && part.signature.is_none()) {
        Some(part) => part.signature = Some(signature),
        None => parts.push(Part { signature: Some(signature), ..Data::Text(Cow::Borrowed("")).into() }),
    }
}

fn signature(data: &ProviderData) -> Option<&str> {
    data.of(PROVIDER)?.get("thoughtSignature")?.as_str()
}

fn function_call(call: &ToolCall) -> Part<'_> {
    let data = call.provider_data.as_ref();
    let id = data.and_then(|data| data.of(PROVIDER)?["id"].as_str());
    let function = FunctionCall { id, name: &call.name, args: args(&call.arguments) };
    Part { signature: data.and_then(signature), ..Data::FunctionCall(function).into() }
}

/// The API accepts only objects, so that other arguments in a history are wrapped.
fn args(text: &str) -> Args<'_> {
    match parts::structure(text).filter(|_| text.trim_start().starts_with('{')) {
        Some(object) => Args::Written(object),
        None if text.trim().is_empty() => Args::Nothing {},
        None => Args::Other { invalid_json: text },
    }
}
