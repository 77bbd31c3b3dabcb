//! Parses a stream of the Responses API, event by event; an unstreamed answer is the content of the last event.
//!
//! By <https://platform.openai.com/docs/api-reference/responses-streaming>.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::{items, output, programs};
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::{ResponseAccumulator, invalid_json};
use crate::http::{Endpoint, reported};
use crate::message::{FinishReason, ResponsePart};
use crate::model::StreamEvent;
use crate::programs::Programs;
use crate::response::Response;
use crate::sent_history::Repeats;
use crate::usage::Usage;

/// The answer so far.
#[derive(Debug, Default)]
pub(crate) struct ResponsesAccumulator {
    /// The requested model, in case the server does not name it.
    requested_model: Arc<str>,
    /// The calls that have started, with the indices of their items.
    calls: Vec<PendingCall>,
    /// The parts of the complete items.
    parts: Vec<ResponsePart>,
    refused: bool,
    /// The text that is not complete yet.
    text: String,
    end: Option<End>,
}

#[derive(Debug)]
struct PendingCall {
    place: i64,
    name: Arc<str>,
}

/// How the answer ended.
#[derive(Debug)]
struct End {
    model: Option<String>,
    usage: Usage,
    reason: Option<FinishReason>,
    /// Whether the server has marked it as complete.
    is_complete: bool,
}

/// The fields that are read of any event.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    output_index: Option<i64>,
    summary_index: Option<i64>,
    delta: Option<String>,
    item: Option<Value>,
    response: Option<Whole>,
}

/// The whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Whole {
    status: Option<String>,
    model: Option<String>,
    error: Value,
    incomplete_details: Value,
    output: Vec<Value>,
    usage: Value,
}

impl ResponsesAccumulator {
    /// Returns the empty answer of the model `requested_model`.
    pub(super) fn new(requested_model: Arc<str>) -> Self {
        Self { requested_model, ..Self::default() }
    }

    /// Takes the whole answer, which may be an error.
    fn end(&mut self, server: &Endpoint, whole: Whole) -> Result<(), ProviderError> {
        if !whole.error.is_null() || whole.status.as_deref() == Some("failed") {
            return Err(reported(server.provider, &server.key_hint, &whole.error));
        }
        if let Some(error) = whole.status.as_deref().and_then(|status| unfinished(server, status)) {
            return Err(error);
        }
        if !whole.output.is_empty() {
            self.parts.clear();
            whole.output.into_iter().for_each(|item| self.refused |= output::add(item, &mut self.parts));
        }
        let reason = match whole.incomplete_details["reason"].as_str() {
            _ if self.refused => Some(FinishReason::ContentFilter),
            Some("max_output_tokens") => Some(FinishReason::Length),
            Some("content_filter") => Some(FinishReason::ContentFilter),
            Some(_) => Some(FinishReason::Other),
            None => None,
        };
        let is_complete = whole.status.as_deref() == Some("completed");
        self.end = Some(End { model: whole.model, usage: usage(&whole.usage), reason, is_complete });
        Ok(())
    }

    /// Takes the start of an item: only the name of a call is shown.
    fn begin(&mut self, event: &Event<'_>, ready: &mut VecDeque<StreamEvent>) {
        let Some(item) = event.item.as_ref().filter(|item| item["type"] == "function_call") else { return };
        let name: Arc<str> = item["name"].as_str().unwrap_or_default().into();
        let index = self.calls.len();
        self.calls.push(PendingCall { place: event.output_index.unwrap_or_default(), name: Arc::clone(&name) });
        ready.push_back(StreamEvent::ToolCall { index, name, arguments: String::new() });
    }

    fn grow_call(&self, event: Event<'_>, ready: &mut VecDeque<StreamEvent>) {
        let place = event.output_index.unwrap_or_default();
        let found = self.calls.iter().enumerate().rfind(|(_, call)| call.place == place);
        if let (Some((index, call)), Some(arguments)) = (found, event.delta.filter(|more| !more.is_empty())) {
            ready.push_back(StreamEvent::ToolCall { index, name: Arc::clone(&call.name), arguments });
        }
    }

    fn push_text(&mut self, more: Option<String>, ready: &mut VecDeque<StreamEvent>) {
        if let Some(more) = more.filter(|more| !more.is_empty()) {
            self.text.push_str(&more);
            ready.push_back(StreamEvent::Text(more));
        }
    }

    /// Takes a complete item.
    fn finish(&mut self, item: Option<Value>, ready: &mut VecDeque<StreamEvent>) {
        let Some(item) = item else { return };
        let before = self.parts.len();
        if item["type"] == "message" {
            self.text.clear();
        }
        self.refused |= output::add(item, &mut self.parts);
        for part in &self.parts[before..] {
            if let ResponsePart::ServerSideTool(used) = part
                && !used.is_result_alone()
            {
                ready.extend([used.begun(), used.done()]);
            }
        }
    }
}

impl ResponseAccumulator for ResponsesAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let whole: Whole = serde_json::from_slice(body).map_err(|error| invalid_json(server, &error))?;
        self.end(server, whole)
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        data: &str,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<bool, ProviderError> {
        if data.trim() == "[DONE]" {
            return Ok(false);
        }
        let event: Event<'_> = serde_json::from_str(data).map_err(|error| invalid_json(server, &error))?;
        match &*event.kind {
            "response.output_item.added" => self.begin(&event, ready),
            "response.function_call_arguments.delta" => self.grow_call(event, ready),
            "response.output_text.delta" | "response.refusal.delta" => self.push_text(event.delta, ready),
            // Summaries are paragraphs of one thought.
            "response.reasoning_summary_part.added" if event.summary_index > Some(0) => {
                ready.push_back(StreamEvent::Thinking("\n\n".to_owned()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                ready.extend(event.delta.filter(|more| !more.is_empty()).map(StreamEvent::Thinking));
            }
            "response.output_item.done" => self.finish(event.item, ready),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let mut whole = event.response.unwrap_or_default();
                // The name of the event equals the status, which some servers leave out.
                whole.status.get_or_insert_with(|| event.kind["response.".len()..].to_owned());
                self.end(server, whole)?;
                return Ok(false);
            }
            "error" => return Err(failed(server, data)),
            _ => {}
        }
        Ok(true)
    }

    fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn fault(&self) -> Option<&'static str> {
        let is_nameless = |part: &ResponsePart| matches!(part, ResponsePart::ToolCall(call) if call.name.is_empty());
        match &self.end {
            None => Some("the stream broke off"),
            Some(end) if self.parts.is_empty() && end.reason.is_none() => Some("the answer is empty"),
            Some(_) => self.parts.iter().any(is_nameless).then_some("the answer calls a tool without a name"),
        }
    }

    fn complete(self) -> Response {
        let none = || End { model: None, usage: Usage::of_request(0, 0), reason: None, is_complete: false };
        let End { model, usage, reason, is_complete } = self.end.unwrap_or_else(none);
        let response = Response::new(model.unwrap_or_else(|| self.requested_model.to_string()), self.parts, usage);
        match reason {
            Some(reason) => response.with_finish(reason),
            None if is_complete => response,
            None => response.without_reason(),
        }
    }

    fn is_paused(&self) -> bool {
        let is_complete = |end: &End| end.is_complete && end.reason.is_none();
        self.end.as_ref().is_some_and(is_complete) && programs::is_paused(&self.parts)
    }

    /// The server needs its items back unchanged, and nothing after them.
    fn continuation(sent: &[u8], paused: &Response) -> Option<Vec<u8>> {
        let items =
            serde_json::to_value(items::answer(&paused.parts, &|_| Repeats::default(), &[], true, &Programs::ALL))
                .ok()?;
        let mut body: Value = serde_json::from_slice(sent).ok()?;
        body["input"].as_array_mut()?.extend(items.as_array()?.iter().cloned());
        serde_json::to_vec(&body).ok()
    }

    fn partial_response(mut self) -> Response {
        if !self.text.is_empty() {
            self.parts.push(ResponsePart::Text { text: self.text });
        }
        Response::new(&*self.requested_model, self.parts, Usage::of_request(0, 0)).with_finish(FinishReason::Other)
    }
}

/// Returns the error of an event: its fields are in the event, or in an object of it.
fn failed(server: &Endpoint, data: &str) -> ProviderError {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    // The event's own `type` has no information.
    let error = event.get("error").filter(|error| error.is_object()).cloned();
    let error = error.unwrap_or_else(|| serde_json::json!({ "code": event["code"], "message": event["message"] }));
    reported(server.provider, &server.key_hint, &error)
}

/// Returns the error for an answer that is made in the background, by
/// <https://developers.openai.com/api/docs/guides/background> (read 2026-11-22): it has no output yet, or never will.
fn unfinished(server: &Endpoint, status: &str) -> Option<ProviderError> {
    let (kind, text) = match status {
        "queued" | "in_progress" => (
            ErrorKind::InvalidRequest,
            format!(
                "the answer is created in the background (its status is `{status}`), which is not supported; leave \
                 `background` out of the request"
            ),
        ),
        "cancelled" => (ErrorKind::Cancelled, "the answer was cancelled at the provider".to_owned()),
        _ => return None,
    };
    Some(ProviderError::new(server.provider, kind, text).with_status(200).with_should_retry(false))
}

/// Returns the usage of one request; a figure that is absent counts as not reported.
fn usage(tokens: &Value) -> Usage {
    let count = |pointer: &str| tokens.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    Usage {
        cached_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
        ..Usage::of_request(count("/input_tokens"), count("/output_tokens"))
    }
}
