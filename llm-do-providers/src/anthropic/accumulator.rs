//! Accumulates an answer of the Messages API, whole or streamed, and resumes it after a pause.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::mem;

use serde_json::{Value, json};

use super::replay;
use super::stream::{self, AnthropicAccumulator};
use super::wire::{Event, MessageBody};
use crate::error::ProviderError;
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json, reported};
use crate::http::{self, Endpoint, has_content};
use crate::model::StreamEvent;
use crate::programs::Programs;
use crate::response::Response;
use crate::sent_history::Repeats;

impl ResponseAccumulator for AnthropicAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let answered: MessageBody = serde_json::from_slice(body).map_err(|error| invalid_json(server, &error))?;
        if let Some(error) = answered.error.as_ref().filter(|error| has_content(error)) {
            return Err(failed(server, error));
        }
        if answered.content.is_some() || answered.stop_reason.is_some() {
            self.begin(answered, &mut VecDeque::new());
        }
        Ok(())
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        event: &http::Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        if event.data.trim() == "[DONE]" {
            return Ok(Absorbed::End);
        }
        let mut parsed: Event<'_> = serde_json::from_str(&event.data).map_err(|error| invalid_json(server, &error))?;
        if let Some(error) = parsed.error.as_ref().filter(|error| has_content(error)) {
            return Err(failed(server, error));
        }
        let word = mem::take(&mut parsed.kind);
        let kind = if word.as_str().is_empty() { event.name.as_deref().unwrap_or_default() } else { word.as_str() };
        match kind {
            // The whole answer in place of its pieces.
            "message" => {
                let whole = serde_json::from_str(&event.data).map_err(|error| invalid_json(server, &error))?;
                self.begin(whole, ready);
                return Ok(Absorbed::More);
            }
            "ping" | "message_start" | "message_delta" | "message_stop" => {}
            _ if kind.starts_with("content_block_") => {}
            _ => return Ok(Absorbed::Unknown),
        }
        Ok(if self.take(kind, parsed, ready) { Absorbed::More } else { Absorbed::End })
    }

    fn error(server: &Endpoint, error: &Value) -> ProviderError {
        failed(server, error)
    }

    fn parts(&self) -> usize {
        self.count()
    }

    fn is_finished(&self) -> bool {
        self.has_finished()
    }

    fn fault(&self) -> Option<&'static str> {
        self.has_fault()
    }

    fn complete(self) -> Response {
        self.into_response()
    }

    fn partial_response(self) -> Response {
        self.into_arrived()
    }

    fn is_paused(&self) -> bool {
        self.has_paused()
    }

    /// The server needs its answer back unchanged, after the messages of the request, and nothing after it.
    fn continuation(sent: &[u8], paused: &Response) -> Option<Vec<u8>> {
        let Ok(Value::Array(more)) =
            serde_json::to_value(replay::assistant(&paused.parts, |_| Repeats::default(), &Programs::ALL, true))
        else {
            return None;
        };
        let mut body: Value = serde_json::from_slice(sent).ok()?;
        let messages = body["messages"].as_array_mut()?;
        match messages.last_mut() {
            _ if more.is_empty() => return None,
            Some(last) if last["role"] == "assistant" => last["content"].as_array_mut()?.extend(more),
            _ => messages.push(json!({"role": "assistant", "content": more})),
        }
        if let Some(container) = replay::container(&paused.parts) {
            body["container"] = container.into();
        }
        serde_json::to_vec(&body).ok()
    }

    /// The result of a use may arrive after the pause, and report a failure.
    fn merge_paused(answer: &mut Response) {
        stream::set_failures(&mut answer.parts);
    }
}

/// Returns the error for an error object in an answer of status 200, with the HTTP status that its type usually has.
fn failed(server: &Endpoint, error: &Value) -> ProviderError {
    let status = error["type"].as_str().and_then(status);
    let Some(status) = status else { return reported(server, error) };
    reported(server, &json!({"code": status, "type": error["type"], "message": error["message"]}))
}

/// By <https://platform.claude.com/docs/en/api/errors>.
fn status(r#type: &str) -> Option<u16> {
    match r#type {
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "billing_error" => Some(402),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        "rate_limit_error" => Some(429),
        "api_error" => Some(500),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    }
}
