//! Converts a conversation to contents; the parts of the model's answers go back unchanged, with their signatures.

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
use crate::sent_history::{Arguments, BEGINNING, CONTINUE, EMPTY, Repeats, Step, arguments, steps, tool_name};

/// The placeholder signature for calls that Gemini did not make, by
/// <https://ai.google.dev/gemini-api/docs/thought-signatures>: version 3 refuses calls without a signature.
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
    let outline = writer.outline(messages);
    let mut contents = Vec::with_capacity(messages.len() + 1);
    // Whether the last content is the model's. The API requires user content before and after it.
    let mut is_answer = true;
    for step in steps(messages) {
        let is_next_answer = matches!(step, Step::Answer(..));
        let before = contents.len();
        writer.message(step.place(), false, &mut contents, || match step {
            Step::User(_, parts) => Ok(content("user", parts::user(parts)?).into_iter().collect()),
            Step::Answer(place, parts) => {
                let repeats = |number| outline.repeats(place, number);
                Ok(content("model", model(parts, repeats, capabilities)).into_iter().collect())
            }
            Step::Results(results) => {
                let contents = parts::results(&results.answered(&outline), capabilities);
                Ok(contents.into_iter().flatten().collect())
            }
        })?;
        if contents.len() == before {
            continue;
        }
        if is_answer && is_next_answer {
            let text = if before == 0 { BEGINNING } else { CONTINUE };
            contents.insert(before, Json::New(user_text(text)));
        }
        is_answer = is_next_answer;
    }
    if is_answer {
        contents.push(Json::New(user_text(if contents.is_empty() { EMPTY } else { CONTINUE })));
    }
    Ok(contents)
}

fn user_text(text: &str) -> Content<'_> {
    Content { role: Some("user"), parts: vec![Data::Text(text.into()).into()] }
}

/// Returns the parts of a model's answer.
fn model<'a>(
    answer: &'a [ResponsePart],
    repeats: impl Fn(usize) -> Repeats,
    capabilities: &GeminiCapabilities,
) -> Vec<Part<'a>> {
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
            ResponsePart::ToolCall(call) => parts.push(function_call(call, repeats(place))),
            ResponsePart::ServerSideTool(used) => parts.extend(tool_uses::parts(used)),
            ResponsePart::Attachment(file) => parts.extend(parts::blob(file).ok().map(Data::Blob).map(Part::from)),
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

/// Whether the signature of a part is in the next part, because its own part has no field for it.
fn is_signable(part: &ResponsePart) -> bool {
    match part {
        ResponsePart::Text { text } => !text.is_empty(),
        ResponsePart::Attachment(file) => parts::blob(file).is_ok(),
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

fn function_call(call: &ToolCall, repeats: Repeats) -> Part<'_> {
    let id = parts::given_id(call, repeats);
    let function = FunctionCall { id, name: tool_name(&call.name), args: args(&call.arguments) };
    let signature = call.provider_data.as_ref().and_then(signature);
    Part { signature, ..Data::FunctionCall(function).into() }
}

/// Returns the arguments of a call; the API accepts only objects, so other values are wrapped in one.
fn args(text: &str) -> Args<'_> {
    match arguments(text, parts::MAX_DEPTH) {
        Arguments::Object(object) => {
            serde_json::from_str(object).map_or(Args::Other { invalid_json: object }, Args::Written)
        }
        Arguments::Nothing => Args::Nothing {},
        Arguments::NotAnObject(text) | Arguments::Invalid(text) => Args::Other { invalid_json: text },
    }
}
