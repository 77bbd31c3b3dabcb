//! Parses a stream of the Responses API, event by event; an unstreamed answer is the content of the last event.
//!
//! By <https://platform.openai.com/docs/api-reference/responses-streaming>.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::{items, output, programs};
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json, reported};
use crate::http::{self, Endpoint, has_content};
use crate::lenient::{JsonText, LenientCount, Word, index, list, object, text};
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
    /// The calls that have started.
    calls: Vec<PendingCall>,
    /// The parts of the complete items.
    parts: Vec<ResponsePart>,
    refused: bool,
    /// The text that is not complete yet.
    text: String,
    usage: Usage,
    end: Option<End>,
}

/// A call whose item is not complete yet.
#[derive(Debug)]
struct PendingCall {
    /// The index and the id of its item, either of which may be missing.
    place: Option<i64>,
    id: String,
    name: Arc<str>,
    item: Value,
    arguments: String,
    is_whole: bool,
}

/// How the answer ended.
#[derive(Debug)]
struct End {
    model: Option<String>,
    reason: Option<FinishReason>,
    /// Whether the server has marked it as complete.
    is_complete: bool,
}

/// The fields that are read of any event.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Word<'a>,
    #[serde(default, deserialize_with = "index")]
    output_index: Option<i64>,
    #[serde(borrow)]
    item_id: Option<Word<'a>>,
    #[serde(default, deserialize_with = "index")]
    summary_index: Option<i64>,
    /// A text; for arguments, with some servers, the JSON itself.
    delta: Option<JsonText>,
    item: Option<Value>,
    #[serde(default, deserialize_with = "object")]
    response: Option<Whole>,
    /// What a whole answer is, in place of the event for its end.
    #[serde(borrow)]
    object: Option<Word<'a>>,
}

/// The whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Whole {
    #[serde(deserialize_with = "text")]
    status: Option<String>,
    #[serde(deserialize_with = "text")]
    model: Option<String>,
    error: Value,
    incomplete_details: Value,
    #[serde(deserialize_with = "list")]
    output: Option<Vec<Value>>,
    usage: Value,
}

impl ResponsesAccumulator {
    /// Returns the empty answer of the model `requested_model`.
    pub(super) fn new(requested_model: Arc<str>) -> Self {
        Self { requested_model, ..Self::default() }
    }

    /// Takes the whole answer, which may be an error.
    fn end(&mut self, server: &Endpoint, whole: Whole) -> Result<(), ProviderError> {
        self.count(&whole.usage);
        if has_content(&whole.error) || whole.status.as_deref() == Some("failed") {
            return Err(reported(server, &whole.error));
        }
        if let Some(error) = whole.status.as_deref().and_then(|status| unfinished(server, status)) {
            return Err(error);
        }
        let is_complete = whole.status.as_deref() == Some("completed");
        match whole.output.filter(|output| !output.is_empty()) {
            Some(output) => {
                self.parts.clear();
                for item in output {
                    self.refused |= output::add(item, &mut self.parts);
                }
            }
            None => self.complete_items(is_complete),
        }
        let reason = match whole.incomplete_details["reason"].as_str() {
            _ if self.refused => Some(FinishReason::ContentFilter),
            Some("max_output_tokens") => Some(FinishReason::Length),
            Some("content_filter") => Some(FinishReason::ContentFilter),
            Some(_) => Some(FinishReason::Other),
            None => None,
        };
        self.end = Some(End { model: whole.model, reason, is_complete });
        Ok(())
    }

    /// Takes what was used so far, which grows.
    fn count(&mut self, tokens: &Value) {
        let newer = usage(tokens);
        let update = |figure: &mut u64, newer: u64| *figure = if newer > 0 { newer } else { *figure };
        update(&mut self.usage.input_tokens, newer.input_tokens);
        update(&mut self.usage.output_tokens, newer.output_tokens);
        update(&mut self.usage.cached_tokens, newer.cached_tokens);
        update(&mut self.usage.cache_write_tokens, newer.cache_write_tokens);
        update(&mut self.usage.reasoning_tokens, newer.reasoning_tokens);
    }

    /// Takes the items whose pieces came without an event for their end, where the answer is complete.
    fn complete_items(&mut self, is_complete: bool) {
        if !self.text.is_empty() {
            self.parts.push(ResponsePart::Text { text: mem::take(&mut self.text) });
        }
        for PendingCall { mut item, arguments, .. } in self.calls.drain(..).filter(|call| is_complete && !call.is_whole)
        {
            if !arguments.is_empty() {
                item["arguments"] = arguments.into();
            }
            output::add(item, &mut self.parts);
        }
    }

    /// Takes the start of an item: only the name of a call is shown.
    fn begin(&mut self, event: &Event<'_>, ready: &mut VecDeque<StreamEvent>) {
        let Some(item) = event.item.as_ref().filter(|item| item["type"] == "function_call") else { return };
        let name: Arc<str> = item["name"].as_str().unwrap_or_default().into();
        let index = self.calls.len();
        self.calls.push(PendingCall {
            place: event.output_index,
            id: item["id"].as_str().unwrap_or_default().to_owned(),
            name: Arc::clone(&name),
            item: item.clone(),
            arguments: String::new(),
            is_whole: false,
        });
        ready.push_back(StreamEvent::ToolCall { index, name, arguments: String::new() });
    }

    fn grow_call(&mut self, event: Event<'_>, ready: &mut VecDeque<StreamEvent>) {
        let id = event.item_id.as_ref().map(Word::as_str).unwrap_or_default();
        let Some(index) = self.find_call(event.output_index, id) else { return };
        if let Some(arguments) = event.delta.map(JsonText::into_string).filter(|more| !more.is_empty()) {
            let call = &mut self.calls[index];
            call.arguments.push_str(&arguments);
            ready.push_back(StreamEvent::ToolCall { index, name: Arc::clone(&call.name), arguments });
        }
    }

    /// Finds the call that an event is of: by the index of its item, else by its id, else the last one.
    fn find_call(&self, place: Option<i64>, id: &str) -> Option<usize> {
        let by_place = place.and_then(|place| self.calls.iter().rposition(|call| call.place == Some(place)));
        let by_id = || self.calls.iter().rposition(|call| !id.is_empty() && call.id == id);
        let last = || {
            self.calls
                .len()
                .checked_sub(1)
                .filter(|_| place.is_none() || self.calls.iter().all(|call| call.place.is_none()))
        };
        by_place.or_else(by_id).or_else(last)
    }

    fn push_text(&mut self, more: Option<JsonText>, ready: &mut VecDeque<StreamEvent>) {
        if let Some(more) = more.map(JsonText::into_string).filter(|more| !more.is_empty()) {
            self.text.push_str(&more);
            ready.push_back(StreamEvent::Text(more));
        }
    }

    /// Takes a complete item.
    fn finish(&mut self, place: Option<i64>, item: Option<Value>, ready: &mut VecDeque<StreamEvent>) {
        let Some(item) = item else { return };
        if item["type"] == "function_call"
            && let Some(call) = self.find_call(place, item["id"].as_str().unwrap_or_default())
        {
            self.calls[call].is_whole = true;
        }
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
        event: &http::Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        let data = &*event.data;
        if data.trim() == "[DONE]" {
            // Not the end of this protocol: without one, the answer is not whole.
            return Ok(Absorbed::More);
        }
        let mut parsed: Event<'_> = serde_json::from_str(data).map_err(|error| invalid_json(server, &error))?;
        let word = mem::take(&mut parsed.kind);
        let kind = if word.as_str().is_empty() { event.name.as_deref().unwrap_or_default() } else { word.as_str() };
        match kind {
            "response.output_item.added" => self.begin(&parsed, ready),
            "response.function_call_arguments.delta" => self.grow_call(parsed, ready),
            "response.output_text.delta" | "response.refusal.delta" => self.push_text(parsed.delta, ready),
            // Summaries are paragraphs of one thought.
            "response.reasoning_summary_part.added" if parsed.summary_index > Some(0) => {
                ready.push_back(StreamEvent::Thinking("\n\n".to_owned()));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let more = parsed.delta.map(JsonText::into_string).filter(|more| !more.is_empty());
                ready.extend(more.map(StreamEvent::Thinking));
            }
            "response.output_item.done" => self.finish(parsed.output_index, parsed.item, ready),
            "response.completed" | "response.incomplete" | "response.failed" => {
                let mut whole = parsed.response.unwrap_or_default();
                // The name of the event equals the status, which some servers leave out.
                whole.status.get_or_insert_with(|| kind["response.".len()..].to_owned());
                self.end(server, whole)?;
                return Ok(Absorbed::End);
            }
            "error" | "response.error" => return Err(failed(server, data)),
            // The whole answer in place of its events.
            "" if parsed.object.is_some_and(|object| object.as_str() == "response") => {
                self.absorb_whole(server, data.as_bytes())?;
                return Ok(Absorbed::End);
            }
            _ if kind.starts_with("response.") => {}
            _ => return Ok(Absorbed::Unknown),
        }
        Ok(Absorbed::More)
    }

    fn parts(&self) -> usize {
        self.calls.len().max(self.parts.len())
    }

    fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn fault(&self) -> Option<&'static str> {
        let is_nameless = |part: &ResponsePart| matches!(part, ResponsePart::ToolCall(call) if call.name.is_empty());
        match &self.end {
            None => Some("the stream broke off"),
            // An answer without a word is one, as with every protocol; a body without an answer is not.
            Some(end) if self.parts.is_empty() && end.reason.is_none() && !end.is_complete => {
                Some("the answer is empty")
            }
            Some(_) => self.parts.iter().any(is_nameless).then_some("the answer calls a tool without a name"),
        }
    }

    fn complete(self) -> Response {
        let none = || End { model: None, reason: None, is_complete: false };
        let usage = Usage { requests: 1, ..self.usage };
        let End { model, reason, is_complete } = self.end.unwrap_or_else(none);
        let model = model.filter(|model| !model.is_empty()).unwrap_or_else(|| self.requested_model.to_string());
        let response = Response::new(model, self.parts, usage);
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
        let usage = Usage { requests: 1, ..self.usage };
        Response::new(&*self.requested_model, self.parts, usage).with_finish(FinishReason::Other)
    }
}

/// Returns the error of an event: its fields are in the event, or in an object of it.
fn failed(server: &Endpoint, data: &str) -> ProviderError {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    let error = event.get("error").filter(|error| error.is_object()).cloned();
    // The event's own `type` has no information.
    let error = error.or_else(|| http::flat_error(&event)).unwrap_or(event);
    reported(server, &error)
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
    let count =
        |pointer: &str| tokens.pointer(pointer).map(|tokens| LenientCount::of(tokens).count()).unwrap_or_default();
    Usage {
        cached_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
        ..Usage::of_request(count("/input_tokens"), count("/output_tokens"))
    }
}
