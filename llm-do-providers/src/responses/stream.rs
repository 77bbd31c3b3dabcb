//! Accumulates a stream of the Responses API, event by event; an unstreamed answer is the content of the last event.
//!
//! By <https://platform.openai.com/docs/api-reference/responses-streaming>.

mod end;
mod item;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use self::end::Whole;
use super::{fault, history, programs};
use crate::error::ProviderError;
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json};
use crate::http::{Endpoint, Event};
use crate::lenient::{JsonText, Word, index, object};
use crate::message::{FinishReason, ResponsePart};
use crate::model::StreamEvent;
use crate::programs::Programs;
use crate::response::Response;
use crate::sent_history::Repeats;
use crate::usage::{ServiceTier, Usage};

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
    tier: ServiceTier,
    end: Option<End>,
}

/// A call whose item is not complete yet.
#[derive(Debug)]
struct PendingCall {
    /// The index of its item. It may be missing, and so may the id in the item.
    place: Option<i64>,
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

/// The fields of events.
#[derive(Deserialize)]
struct ResponsesEvent<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Word<'a>,
    #[serde(default, deserialize_with = "index")]
    output_index: Option<i64>,
    #[serde(borrow)]
    item_id: Option<Word<'a>>,
    #[serde(default, deserialize_with = "index")]
    summary_index: Option<i64>,
    /// A string; for arguments, some servers send the JSON itself.
    delta: Option<JsonText>,
    /// The complete arguments after their deltas.
    arguments: Option<JsonText>,
    item: Option<Value>,
    #[serde(default, deserialize_with = "object")]
    response: Option<Whole>,
    /// Set in a whole answer that arrives in place of its last event.
    #[serde(borrow)]
    object: Option<Word<'a>>,
}

impl ResponsesAccumulator {
    /// Returns the empty answer of the model `requested_model` to a request for the tier `tier`.
    pub(super) fn new(requested_model: Arc<str>, tier: ServiceTier) -> Self {
        Self { requested_model, tier, ..Self::default() }
    }

    /// Returns the usage so far, with that of server-side tools.
    fn total(&self) -> Usage {
        usage::with_tools(Usage { requests: 1, ..self.usage }.at_tier(self.tier), &self.parts)
    }

    /// Adds the start of an item; a call is shown by its name.
    fn begin(&mut self, event: ResponsesEvent<'_>, ready: &mut VecDeque<StreamEvent>) {
        let Some(item) = event.item.filter(|item| item["type"] == "function_call") else { return };
        let name: Arc<str> = item["name"].as_str().unwrap_or_default().into();
        let index = self.calls.len();
        self.calls.push(PendingCall {
            place: event.output_index,
            name: Arc::clone(&name),
            item,
            arguments: String::new(),
            is_whole: false,
        });
        ready.push_back(StreamEvent::ToolCall { index, name, arguments: String::new() });
    }

    /// Adds arguments of a call: a delta, or the complete ones, for servers that send no deltas.
    fn grow_call(&mut self, event: ResponsesEvent<'_>, is_delta: bool, ready: &mut VecDeque<StreamEvent>) {
        let id = event.item_id.as_ref().map(Word::as_str).unwrap_or_default();
        let Some(index) = self.find_call(event.output_index, id) else { return };
        let call = &mut self.calls[index];
        if !is_delta && !call.arguments.is_empty() {
            return;
        }
        let more = if is_delta { event.delta } else { event.arguments };
        if let Some(arguments) = more.map(JsonText::into_string).filter(|more| !more.is_empty()) {
            call.arguments.push_str(&arguments);
            ready.push_back(StreamEvent::ToolCall { index, name: Arc::clone(&call.name), arguments });
        }
    }

    /// Finds the call of an event: by the index of its item, else by its id, else the last one.
    fn find_call(&self, place: Option<i64>, id: &str) -> Option<usize> {
        let by_place = place.and_then(|place| self.calls.iter().rposition(|call| call.place == Some(place)));
        let by_id = || self.calls.iter().rposition(|call| !id.is_empty() && call.item["id"] == *id);
        let last = || {
            let is_unplaced = place.is_none() || self.calls.iter().all(|call| call.place.is_none());
            if is_unplaced { self.calls.len().checked_sub(1) } else { None }
        };
        by_place.or_else(by_id).or_else(last)
    }

    fn push_text(&mut self, more: Option<JsonText>, ready: &mut VecDeque<StreamEvent>) {
        if let Some(more) = more.map(JsonText::into_string).filter(|more| !more.is_empty()) {
            self.text.push_str(&more);
            ready.push_back(StreamEvent::Text(more));
        }
    }

    /// Adds a complete item.
    fn finish(&mut self, place: Option<i64>, item: Option<Value>, ready: &mut VecDeque<StreamEvent>) {
        let Some(mut item) = item else { return };
        if item["type"] == "function_call"
            && let Some(call) = self.find_call(place, item["id"].as_str().unwrap_or_default())
        {
            self.calls[call].is_whole = true;
            put_arguments(&mut item, Some(&self.calls[call]));
        }
        let before = self.parts.len();
        let streamed = if item["type"] == "message" { mem::take(&mut self.text) } else { String::new() };
        self.refused |= item::add_parts(item, &mut self.parts);
        if self.parts.len() == before && !streamed.is_empty() {
            self.parts.push(ResponsePart::Text { text: streamed });
        }
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
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        let data = &*event.data;
        if data.trim() == "[DONE]" {
            // This is not an end mark of this protocol, whose absence means that the answer is incomplete.
            return Ok(Absorbed::More);
        }
        let mut parsed: ResponsesEvent<'_> =
            serde_json::from_str(data).map_err(|error| invalid_json(server, &error))?;
        let word = mem::take(&mut parsed.kind);
        let kind = if word.as_str().is_empty() { event.name.as_deref().unwrap_or_default() } else { word.as_str() };
        match kind {
            "response.output_item.added" => self.begin(parsed, ready),
            "response.function_call_arguments.delta" => self.grow_call(parsed, true, ready),
            "response.function_call_arguments.done" => self.grow_call(parsed, false, ready),
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
            "error" | "response.error" => return Err(fault::failed(server, data)),
            // The whole answer arrived in place of its events.
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
            // A completed answer without parts is valid, but a body without an answer is not.
            Some(end) if self.parts.is_empty() && end.reason.is_none() && !end.is_complete => {
                Some("the answer is empty")
            }
            Some(_) => self.parts.iter().any(is_nameless).then_some("the answer calls a tool without a name"),
        }
    }

    fn complete(self) -> Response {
        let none = || End { model: None, reason: None, is_complete: false };
        let usage = self.total();
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

    /// Appends the unchanged items to the input of the request.
    fn continuation(sent: &[u8], paused: &Response) -> Option<Vec<u8>> {
        let items =
            serde_json::to_value(history::answer(&paused.parts, &|_| Repeats::default(), &[], true, &Programs::ALL))
                .ok()?;
        let mut body: Value = serde_json::from_slice(sent).ok()?;
        body["input"].as_array_mut()?.extend(items.as_array()?.iter().cloned());
        serde_json::to_vec(&body).ok()
    }

    fn partial_response(mut self) -> Response {
        if !self.text.is_empty() {
            self.parts.push(ResponsePart::Text { text: mem::take(&mut self.text) });
        }
        let usage = self.total();
        Response::new(&*self.requested_model, self.parts, usage).with_finish(FinishReason::Other)
    }
}

/// Sets the arguments of an item from the deltas of its call, if it has none.
fn put_arguments(item: &mut Value, call: Option<&PendingCall>) {
    let is_empty = item["arguments"].is_null() || item["arguments"].as_str().is_some_and(|text| text.trim().is_empty());
    if let Some(call) = call.filter(|call| is_empty && !call.arguments.is_empty()) {
        item["arguments"] = call.arguments.as_str().into();
    }
}
