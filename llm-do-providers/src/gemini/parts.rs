//! The parts of a user's turn: texts, files and the results of tools.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::PROVIDER;
use super::wire::{Blob, Content, Data, FunctionResponse, FunctionResponsePart, Outcome, OutputValue, Part};
use crate::attachment::{Attachment, Base64, FileFault};
use crate::capability::GeminiCapabilities;
use crate::error::ProviderError;
use crate::message::{ToolCall, UserPart};
use crate::sent_history::{Answered, Repeats, is_plain_json, tool_name};

/// The types of files that a function response may contain, by
/// <https://ai.google.dev/gemini-api/docs/function-calling#multimodal>. That page also lists text, which is sent
/// outside of the response, with its name.
const IN_RESPONSES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "application/pdf"];
/// The images that the API reads, by <https://ai.google.dev/gemini-api/docs/image-understanding> (read 2026-11-28).
const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
const ACCEPTED: &str = "image/png, image/jpeg, image/webp, image/heic, image/heif, application/pdf, audio/*, video/*, text/* or \
    application/json";
/// The maximum size of a request with files, in bytes, by <https://ai.google.dev/gemini-api/docs/file-input-methods>: 100 MB.
const MAX_FILE: usize = 100_000_000;
/// The maximum nesting depth of values: a level is three nested messages of protocol buffers, whose parsers stop at 100
/// (<https://protobuf.dev/programming-guides/proto-limits/>).
pub(super) const MAX_DEPTH: usize = 30;
/// The maximum number of digits of a result's numbers: the API parses them as 64-bit floats.
const EXACT_DIGITS: usize = 15;

/// Returns the content of `role`; `None` if it has no parts.
pub(super) fn content<'a>(role: &'static str, parts: Vec<Part<'a>>) -> Option<Content<'a>> {
    (!parts.is_empty()).then_some(Content { role: Some(role), parts })
}

/// Returns a user's parts.
pub(super) fn user(parts: &[UserPart]) -> Result<Vec<Part<'_>>, ProviderError> {
    let parts = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => text_part(text).map(Ok),
        UserPart::Attachment(attachment) => Some(file(attachment).map_err(|fault| refused(attachment, fault))),
        UserPart::Pin => None,
    });
    parts.collect()
}

/// Returns a part of text; the API refuses empty ones.
pub(super) fn text_part(text: &str) -> Option<Part<'_>> {
    (!text.is_empty()).then(|| Data::Text(text.into()).into())
}

/// Returns a file as the kind of part that its content has.
fn file(attachment: &Attachment) -> Result<Part<'_>, FileFault> {
    if attachment.is_sent_as_text() {
        let text = attachment.inlined().map_err(|_| FileFault::NotUtf8)?;
        return Ok(Data::Text(text.into()).into());
    }
    blob(attachment).map(|blob| Data::Blob(blob).into())
}

/// Returns a file of a result, or a text that states why it is not sent: a tool's file must not fail the conversation.
fn file_or_note(attachment: &Attachment) -> Part<'_> {
    file(attachment).unwrap_or_else(|fault| Data::Text(fault.note(attachment, ACCEPTED).into()).into())
}

fn refused(attachment: &Attachment, fault: FileFault) -> ProviderError {
    let text = fault.error(attachment, "the Gemini API cannot carry", ACCEPTED);
    ProviderError::invalid_request(PROVIDER, text)
}

/// Returns a file that is sent as bytes, with the API's name of its type.
pub(super) fn blob(file: &Attachment) -> Result<Blob<'_>, FileFault> {
    let content = file.checked_type(MAX_FILE)?;
    let mime_type: Cow<'static, str> = match content.as_str() {
        "audio/mpeg" => "audio/mp3".into(),
        "application/pdf" => content.into(),
        image if IMAGES.contains(&image) => content.into(),
        media if ["audio/", "video/"].iter().any(|kind| media.starts_with(kind)) => content.into(),
        _ => return Err(FileFault::Type),
    };
    Ok(Blob { mime_type, data: Base64(file) })
}

/// Returns the results of an answer's calls, followed by the files that a response cannot contain.
pub(super) fn results<'a>(results: &[Answered<'a>], capabilities: &GeminiCapabilities) -> [Option<Content<'a>>; 2] {
    let mut responses = Vec::with_capacity(results.len());
    let mut files = Vec::new();
    for result in results {
        let mut parts = Vec::new();
        let name = tool_name(&result.call.name);
        for attachment in result.attachments() {
            if capabilities.version_3_rules
                && !attachment.is_sent_as_text()
                && let Ok(inline_data) = blob(attachment)
                && IN_RESPONSES.contains(&&*inline_data.mime_type)
            {
                parts.push(FunctionResponsePart { inline_data });
            } else {
                let text = format!("{}, from the tool `{name}`:", attachment.heading());
                files.extend([Data::Text(text.into()).into(), file_or_note(attachment)]);
            }
        }
        let id = given_id(result.call, result.repeats);
        let response = outcome(result);
        responses.push(Data::FunctionResponse(FunctionResponse { id, name, response, parts }).into());
    }
    // Files are a separate content, since the API treats a content with a response as the model's.
    [content("user", responses), content("user", files)]
}

/// Returns the id of a call, if it is Gemini's own and no earlier call has the same.
pub(super) fn given_id(call: &ToolCall, repeats: Repeats) -> Option<&str> {
    let id = call.provider_data.as_ref()?.of(PROVIDER)?["id"].as_str()?;
    (!repeats.item && !id.is_empty()).then_some(id)
}

fn outcome<'a>(result: &Answered<'a>) -> Outcome<'a> {
    let content = result.content();
    if result.is_error() {
        return Outcome::Error(content);
    }
    let json = if is_exact(content) { structure(content) } else { None };
    Outcome::Output(json.map_or(OutputValue::Text(content), OutputValue::Json))
}

/// Returns the JSON of a text that is an object or a list.
pub(super) fn structure(text: &str) -> Option<&RawValue> {
    let text = text.trim();
    let is_structure = text.starts_with(['{', '[']) && is_plain_json(text, MAX_DEPTH);
    is_structure.then(|| serde_json::from_str(text).ok()).flatten()
}

/// Whether all numbers in a text are exact as 64-bit floats.
fn is_exact(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_digit()).all(|digits| digits.len() <= EXACT_DIGITS)
}
