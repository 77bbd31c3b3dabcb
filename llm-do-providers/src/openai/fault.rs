//! Errors in answers of status 200: in an error field, or in the finish reason.

use serde_json::{Value, json};

use super::wire::{Choice, Chunk, Object};
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::{malformed, reported};
use crate::http::{Endpoint, has_content};

/// Returns the error of an answer, or of a chunk, if any; `has_call` is whether a call arrived before.
pub(super) fn find(server: &Endpoint, chunk: &Chunk<'_>, has_call: bool) -> Option<ProviderError> {
    let of_groq = || chunk.x_groq.as_ref().and_then(|groq| groq.error.as_ref());
    let beside = || json!({ "code": chunk.code, "type": chunk.kind, "message": chunk.message });
    if let Some(error) = chunk.error.as_ref().or_else(of_groq).filter(|error| has_content(error)) {
        return Some(match &**error {
            Value::String(text) => {
                let mut error = beside();
                error["message"] = text.as_str().into();
                reported(server, &error)
            }
            Value::Object(_) => reported(server, error),
            _ => reported(server, &beside()),
        });
    }
    if chunk.object == Some(Object::Error) {
        return Some(reported(server, &beside()));
    }
    let choice = chunk.choices.as_ref()?.0.as_ref()?;
    if choice.ends() { by_finish_reason(server, choice, has_call) } else { None }
}

/// Returns the error that an answer ends with: its `error` or `native_finish_reason`, by
/// <https://openrouter.ai/docs/api/reference/errors-and-debugging>, or its finish reason.
///
/// A readable call of a tool that was not offered is not an error: it is answered as a call of an unknown tool.
fn by_finish_reason(server: &Endpoint, choice: &Choice<'_>, has_call: bool) -> Option<ProviderError> {
    if choice.is_unexpected_call()
        && !choice.error.as_ref().is_some_and(|error| has_content(error))
        && (has_call || choice.has_call())
    {
        return None;
    }
    let (reason, native) = (choice.finish_reason().unwrap_or_default(), choice.native_finish_reason());
    if [Some(reason), native].into_iter().flatten().any(is_malformed) {
        return Some(malformed(server));
    }
    choice
        .error
        .as_ref()
        .filter(|error| has_content(error))
        .map(|error| reported(server, error))
        .or_else(|| gave_up(server, reason))
}

/// Whether a reason is one of the Gemini API, in the case of Google or of a proxy.
fn is_malformed(reason: &str) -> bool {
    ["malformed_function_call", "unexpected_tool_call", "malformed_response"]
        .into_iter()
        .any(|word| reason.eq_ignore_ascii_case(word))
}

/// Returns the error for the finish reason of a server that gave up: `error` of OpenRouter, Mistral and vLLM, `abort`
/// of vLLM for a dropped request, and that of DeepSeek, by <https://api-docs.deepseek.com/api/create-chat-completion>.
fn gave_up(server: &Endpoint, reason: &str) -> Option<ProviderError> {
    let (kind, what) = match reason {
        "error" | "abort" => (ErrorKind::Unavailable, "stopped in the middle of the answer"),
        "insufficient_system_resource" => (ErrorKind::Overloaded, "is overloaded"),
        _ => return None,
    };
    let text = format!("the provider {what} ({reason}); try again later");
    // Both kinds are transient.
    Some(ProviderError::new(server.provider, kind, text).with_status(200))
}
