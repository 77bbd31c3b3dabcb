//! Accumulates a stream of chat completions, chunk by chunk; an unstreamed answer is one chunk.

mod call;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use self::call::CallList;
use super::dialect::Dialect;
use super::fault;
use super::reasoning::{Reasoning, ReasoningDelta};
use super::wire::{Choice, Chunk, Delta, DeltaContent, Object, Tokens};
use crate::error::ProviderError;
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json};
use crate::http::{Endpoint, Event};
use crate::lenient::Word;
use crate::message::{FinishReason, ResponsePart};
use crate::model::StreamEvent;
use crate::response::Response;
use crate::usage::{ServiceTier, Usage};

/// The answer so far.
#[derive(Clone, Debug)]
pub(crate) struct ChatAccumulator {
    dialect: &'static Dialect,
    /// The requested model, in case the server does not name it.
    requested_model: Arc<str>,
    /// The length of the history, for the ids of calls that have none.
    turn: usize,
    model: Option<String>,
    thinking: Reasoning,
    text: String,
    calls: CallList,
    refused: bool,
    begun: bool,
    finish: Option<FinishReason>,
    tokens: Option<Tokens>,
    tier: ServiceTier,
    /// Whether the request enabled a search, which search models then always make. Answers do not report it.
    has_search: bool,
}

impl ChatAccumulator {
    /// Returns the empty answer of the model `requested_model` to a conversation of `turn` messages.
    pub(super) fn new(dialect: &'static Dialect, requested_model: Arc<str>, turn: usize) -> Self {
        Self {
            dialect,
            requested_model,
            turn,
            model: None,
            thinking: Reasoning::default(),
            text: String::new(),
            calls: CallList::default(),
            refused: false,
            begun: false,
            finish: None,
            tokens: None,
            tier: ServiceTier::default(),
            has_search: false,
        }
    }

    /// Sets the requested tier and search, which answers of some servers do not report.
    pub(super) fn requested(self, tier: ServiceTier, has_search: bool) -> Self {
        Self { tier, has_search, ..self }
    }

    /// Reads an answer, or a chunk with its events.
    fn read(
        &mut self,
        server: &Endpoint,
        chunk: Chunk<'_>,
        ready: Option<&mut VecDeque<StreamEvent>>,
    ) -> Result<(), ProviderError> {
        let Some(error) = fault::find(server, &chunk, self.calls.has_name()) else {
            self.take(chunk, ready);
            return Ok(());
        };
        // Content next to an error is kept but not shown, so that the request can still be retried.
        self.take(chunk, None);
        let arrived = self.clone().partial_response();
        Err(if arrived.parts.is_empty() { error } else { error.with_partial_response(arrived) })
    }

    /// Adds a whole answer, or a chunk and its events to `events`.
    fn take(&mut self, chunk: Chunk<'_>, events: Option<&mut VecDeque<StreamEvent>>) {
        if self.model.is_none() {
            let model = chunk.model.as_ref().map(Word::as_str).filter(|model| !model.is_empty());
            self.model = model.map(str::to_owned);
        }
        self.tier = chunk.service_tier.0.unwrap_or(self.tier);
        if let Some(tokens) = chunk.usage.or_else(|| chunk.x_groq?.usage) {
            self.tokens.get_or_insert_default().update(*tokens);
        }
        if let Some(mut choice) = chunk.choices.and_then(|choices| choices.0) {
            self.begun = true;
            if let Some(tokens) = choice.usage.take() {
                self.tokens.get_or_insert_default().update(*tokens);
            }
            let has_content = !self.text.is_empty() || !self.calls.is_empty();
            let is_repeated = chunk.object == Some(Object::Whole) && has_content;
            if is_repeated && choice.delta.is_none() {
                choice.message = None;
            }
            self.choose(choice, events);
        }
    }

    fn response(self) -> Response {
        let mut parts = Vec::with_capacity(2 + self.calls.len());
        parts.extend(self.thinking.into_part(self.dialect, &self.requested_model, !self.calls.is_empty()));
        parts.extend((!self.text.is_empty()).then_some(ResponsePart::Text { text: self.text }));
        parts.extend(self.calls.into_parts(self.turn));
        let searches = u64::from(self.has_search);
        let usage = Usage {
            server_side_tools: searches,
            web_searches: searches,
            ..usage::usage(self.tokens.unwrap_or_default()).at_tier(self.tier)
        };
        Response::new(self.model.unwrap_or_else(|| self.requested_model.to_string()), parts, usage)
    }

    fn choose(&mut self, choice: Choice<'_>, events: Option<&mut VecDeque<StreamEvent>>) {
        let is_whole = choice.delta.is_none();
        if choice.is_unexpected_call() {
            self.finish = Some(FinishReason::ToolCalls);
        } else if let Some(reason) = choice.finish_reason() {
            self.finish = finish_reason(reason).or(self.finish);
        }
        if let Some(mut delta) = choice.delta.or(choice.message) {
            self.grow(&mut delta, is_whole, events);
        }
    }

    /// Adds the content of a delta, and its events to `events`.
    fn grow(&mut self, delta: &mut Delta, is_whole: bool, mut events: Option<&mut VecDeque<StreamEvent>>) {
        let Delta { content, refusal, reasoning_content, reasoning, reasoning_details, tool_calls, function_call } =
            delta;
        let DeltaContent { text, thoughts } = content.take().unwrap_or_default();
        let has_thoughts = reasoning_content.is_some() || reasoning.is_some() || reasoning_details.is_some();
        if has_thoughts || !thoughts.is_empty() {
            let details = match reasoning_details.take().map(|details| *details) {
                Some(Value::Array(details)) => Some(details),
                _ => None,
            };
            let piece = ReasoningDelta {
                reasoning_content: reasoning_content.take(),
                reasoning: reasoning.take(),
                details,
                chunks: thoughts,
                is_whole,
            };
            let thought = self.thinking.take(piece);
            if let Some((events, thought)) = events.as_deref_mut().zip(thought) {
                events.push_back(StreamEvent::Thinking(thought));
            }
        }
        self.push_text(text, events.as_deref_mut());
        if let Some(refusal) = refusal.take().filter(|refusal| !refusal.is_empty()) {
            self.refused = true;
            self.push_text(refusal.into(), events.as_deref_mut());
        }
        let pieces = tool_calls.iter_mut().flatten();
        let has_calls = self.calls.grow(pieces, events.as_deref_mut());
        if let Some(piece) = function_call.take().filter(|piece| !has_calls && !piece.is_empty()) {
            self.calls.grow_legacy(*piece, events);
        }
    }

    fn push_text(&mut self, more: String, events: Option<&mut VecDeque<StreamEvent>>) {
        let Some(events) = events else { return append(&mut self.text, more) };
        if !more.is_empty() {
            push(&mut self.text, &more);
            events.push_back(StreamEvent::Text(more));
        }
    }
}

impl ResponseAccumulator for ChatAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let chunk = serde_json::from_slice(body).map_err(|error| invalid_json(server, &error))?;
        self.read(server, chunk, None)
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        let data = &*event.data;
        // An object is not an end mark.
        if !data.starts_with('{') && matches!(data.trim(), "[DONE]" | "\"[DONE]\"" | "DONE") {
            return Ok(Absorbed::End);
        }
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| invalid_json(server, &error))?;
        let is_known = chunk.choices.is_some() || chunk.usage.is_some() || chunk.x_groq.is_some();
        self.read(server, chunk, Some(ready))?;
        Ok(if is_known { Absorbed::More } else { Absorbed::Unknown })
    }

    fn parts(&self) -> usize {
        self.calls.len()
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn fault(&self) -> Option<&'static str> {
        if !self.begun {
            return Some("the answer is empty");
        }
        self.calls.is_nameless().then_some("the answer calls a tool without a name")
    }

    fn complete(mut self) -> Response {
        self.calls.drop_phantoms();
        let finish = if self.refused { Some(FinishReason::ContentFilter) } else { self.finish };
        let response = self.response();
        match finish {
            // The parts determine the reason, since servers confuse the two.
            Some(FinishReason::Stop | FinishReason::ToolCalls) => response,
            Some(reason) => response.with_finish(reason),
            None => response.without_reason(),
        }
    }

    /// Calls are dropped, since they may be incomplete.
    fn partial_response(mut self) -> Response {
        self.calls = CallList::default();
        self.response().with_finish(FinishReason::Other)
    }
}

/// The initial capacity of a streamed text, in bytes.
const FIRST_CAPACITY: usize = 256;

/// Appends a delta to a text.
fn push(text: &mut String, more: &str) {
    if text.capacity() == 0 {
        text.reserve(FIRST_CAPACITY.max(more.len()));
    }
    text.push_str(more);
}

/// Appends a delta to a text; the first one is moved.
fn append(text: &mut String, more: String) {
    if text.is_empty() {
        *text = more;
    } else {
        text.push_str(&more);
    }
}

/// Converts a finish reason; `None` if it is absent.
fn finish_reason(word: &str) -> Option<FinishReason> {
    match word {
        "" => None,
        "stop" => Some(FinishReason::Stop),
        "tool_calls" | "function_call" => Some(FinishReason::ToolCalls),
        "length" | "model_length" => Some(FinishReason::Length),
        "content_filter" => Some(FinishReason::ContentFilter),
        _ => Some(FinishReason::Other),
    }
}
