//! The parts of a user's turn: texts, files and the results of tools.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::PROVIDER;
use super::wire::{Base64, Blob, Content, Data, FunctionResponse, FunctionResponsePart, Outcome, OutputValue, Part};
use crate::attachment::Attachment;
use crate::capability::GeminiCapabilities;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{ResponsePart, ToolResult, UserPart};

/// The types of files that a function's response may contain, by
/// <https://ai.google.dev/gemini-api/docs/function-calling#multimodal>; there it is text as well, which goes without its
/// name there.
const IN_RESPONSES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "application/pdf"];
/// The maximum number of digits of a result's numbers: the API parses them as 64-bit floats.
const EXACT_DIGITS: usize = 15;

/// Returns the content of one side.
pub(super) fn content<'a>(role: &'static str, parts: Vec<Part<'a>>) -> Option<Content<'a>> {
    (!parts.is_empty()).then_some(Content { role: Some(role), parts })
}

/// Returns a user's parts.
pub(super) fn user(parts: &[UserPart]) -> Result<Vec<Part<'_>>, ProviderError> {
    let parts = parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => text_part(text).map(Ok),
        UserPart::Attachment(attachment) => Some(file(attachment)),
    });
    parts.collect()
}

/// Returns a part of text; the API refuses empty ones.
pub(super) fn text_part(text: &str) -> Option<Part<'_>> {
    (!text.is_empty()).then(|| Data::Text(text.into()).into())
}

/// Returns a file as the kind of part that its media type has.
fn file(attachment: &Attachment) -> Result<Part<'_>, ProviderError> {
    if let Some(blob) = blob(attachment) {
        return Ok(Data::Blob(blob).into());
    }
    if attachment.is_text() {
        return Ok(Data::Text(attachment.inlined().map_err(invalid)?.into()).into());
    }
    Err(invalid(format!(
        "the Gemini API cannot carry {}; convert it to one of image/*, application/pdf, audio/*, video/*, text/* or \
         application/json",
        attachment.described()
    )))
}

/// Returns a file that goes as bytes, under the name that the API has for its type.
pub(super) fn blob(file: &Attachment) -> Option<Blob<'_>> {
    let essence = file.essence();
    let mime_type: Cow<'static, str> = match essence.as_str() {
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav".into(),
        "audio/mpeg" => "audio/mp3".into(),
        "image/jpg" => "image/jpeg".into(),
        "application/pdf" => essence.into(),
        media if ["image/", "audio/", "video/"].iter().any(|kind| media.starts_with(kind)) => essence.into(),
        _ => return None,
    };
    Some(Blob { mime_type, data: Base64(file) })
}

/// Returns the results of the calls in `answer`, followed by their files that a response may not contain.
pub(super) fn results<'a>(
    answer: &'a [ResponsePart],
    results: &'a [ToolResult],
    capabilities: &GeminiCapabilities,
) -> Result<[Option<Content<'a>>; 2], ProviderError> {
    let (mut responses, mut files) = (Vec::with_capacity(results.len()), Vec::new());
    for result in results {
        let mut parts = Vec::new();
        for attachment in &result.attachments {
            let inside = blob(attachment)
                .filter(|blob| capabilities.version_3_rules && IN_RESPONSES.contains(&&*blob.mime_type));
            if let Some(inline_data) = inside {
                parts.push(FunctionResponsePart { inline_data });
            } else {
                let text = format!("{}, from the tool `{}`:", attachment.heading(), result.name);
                files.extend([Data::Text(text.into()).into(), file(attachment)?]);
            }
        }
        let (id, response) = (given_id(answer, &result.call_id), outcome(result));
        responses.push(Data::FunctionResponse(FunctionResponse { id, name: &result.name, response, parts }).into());
    }
    // In a separate content: a content with a response is treated as the model's.
    Ok([content("user", responses), content("user", files)])
}

/// The id of a call, if it is Gemini's own.
fn given_id<'a>(answer: &'a [ResponsePart], id: &str) -> Option<&'a str> {
    answer.iter().find_map(|part| match part {
        ResponsePart::ToolCall(call) if call.id == id => call.provider_data.as_ref()?.of(PROVIDER)?["id"].as_str(),
        _ => None,
    })
}

fn outcome(result: &ToolResult) -> Outcome<'_> {
    let content = result.content.as_str();
    if result.is_error {
        return Outcome::Error(content);
    }
    let json = structure(content).filter(|_| is_exact(content));
    Outcome::Output(json.map_or(OutputValue::Text(content), OutputValue::Json))
}

/// Returns an object or a list that is written as JSON.
pub(super) fn structure(text: &str) -> Option<&RawValue> {
    let text = text.trim();
    text.starts_with(['{', '[']).then(|| serde_json::from_str(text).ok()).flatten()
}

/// Whether all numbers in a text keep all their digits.
fn is_exact(text: &str) -> bool {
    text.as_bytes().split(|byte| !byte.is_ascii_digit()).all(|digits| digits.len() <= EXACT_DIGITS)
}

fn invalid(message: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, message)
}
