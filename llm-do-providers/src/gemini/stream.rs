//! Accumulates a stream of the Gemini API, chunk by chunk; an unstreamed answer is one chunk.

mod content;
mod finish;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use self::content::AnswerContent;
use self::finish::CandidateFinish;
use super::wire::{Candidate, Chunk, Tokens};
use super::{PROVIDER, fault, tool_uses};
use crate::error::ProviderError;
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json, malformed, protocol_error, reported};
use crate::http::{Endpoint, Event, has_content};
use crate::lenient::Word;
use crate::message::{FinishReason, ProviderData, ResponsePart, ServerSideToolUse};
use crate::model::StreamEvent;
use crate::response::Response;
use crate::usage::{ServiceTier, Usage};

/// The answer so far.
#[derive(Debug, Default)]
pub(crate) struct GeminiAccumulator {
    /// The requested model, in case the server does not name it.
    requested_model: Arc<str>,
    model: Option<String>,
    content: AnswerContent,
    begun: bool,
    finish: Option<CandidateFinish>,
    tokens: Tokens,
    /// The metadata of web search and of page reading.
    grounding: Map<String, Value>,
    fetched: Map<String, Value>,
    /// The tier that the request asked for.
    tier: ServiceTier,
}

impl GeminiAccumulator {
    /// Returns the empty answer of the model `requested_model` to a conversation of `turn` messages.
    pub(super) fn new(requested_model: Arc<str>, turn: usize, tier: ServiceTier) -> Self {
        Self { requested_model, content: AnswerContent::after(turn), tier, ..Self::default() }
    }

    /// Reads a chunk, or the list of chunks that servers send to clients that do not request events.
    fn read(
        &mut self,
        server: &Endpoint,
        json: &str,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        if !json.trim_ascii_start().starts_with('[') {
            let chunk = serde_json::from_str(json).map_err(|error| invalid_json(server, &error))?;
            return self.read_chunk(server, chunk, ready);
        }
        let chunks: Vec<Chunk<'_>> = serde_json::from_str(json).map_err(|error| invalid_json(server, &error))?;
        for chunk in chunks {
            self.read_chunk(server, chunk, ready)?;
        }
        Ok(Absorbed::More)
    }

    fn read_chunk(
        &mut self,
        server: &Endpoint,
        mut chunk: Chunk<'_>,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        if let Some(error) = chunk.error.as_ref().filter(|error| has_content(error)) {
            return Err(reported(server, error));
        }
        let is_known = chunk.candidates.is_some() || chunk.usage_metadata.is_some() || chunk.prompt_feedback.is_some();
        let blocked = chunk.prompt_feedback.take().and_then(|feedback| feedback.block_reason);
        self.take(chunk, ready);
        if let Some(reason) = blocked
            && !self.begun
        {
            return Err(fault::blocked_prompt(server, &reason));
        }
        match self.finish {
            Some(CandidateFinish::Malformed) => Err(malformed(server)),
            Some(CandidateFinish::UnexpectedCall) if self.content.calls == 0 => Err(malformed(server)),
            _ if is_known => Ok(Absorbed::More),
            _ => Ok(Absorbed::Unknown),
        }
    }

    /// Adds a chunk to the answer, and its events to `events`.
    fn take(&mut self, chunk: Chunk<'_>, events: &mut VecDeque<StreamEvent>) {
        let model = chunk.model_version.as_ref().map(Word::as_str).filter(|model| !model.is_empty());
        if let (None, Some(model)) = (&self.model, model) {
            self.model = Some(model.to_owned());
        }
        if let Some(tokens) = chunk.usage_metadata {
            self.tokens.update(*tokens);
        }
        for candidate in chunk.candidates.unwrap_or_default() {
            if candidate.index.unwrap_or(0) == 0 {
                self.begun = true;
                self.choose(candidate, events);
            }
        }
    }

    fn response(mut self) -> Response {
        let searches = tool_uses::searches(&self.content.parts, &self.grounding);
        self.note();
        let mut tier = self.tier;
        tier.report(self.tokens.traffic_type.as_deref());
        tier.report(self.tokens.service_tier.as_deref());
        let usage = usage::usage(&self.tokens).at_tier(tier);
        let server_side_tools = tool_uses::count(&self.content.parts);
        let usage = Usage { web_searches: searches, server_side_tools, ..usage };
        Response::new(self.model.unwrap_or_else(|| self.requested_model.to_string()), self.content.parts, usage)
    }

    /// Adds the metadata of Google's tools, which is not in the parts.
    fn note(&mut self) {
        let grounding = mem::take(&mut self.grounding);
        let fetched = mem::take(&mut self.fetched);
        if self.content.has_uses {
            if !grounding.is_empty() {
                // The sources of sentences are for display, and never sent back.
                let data = ProviderData::new(PROVIDER, json!({ "groundingMetadata": grounding }));
                self.content.parts.push(ResponsePart::Opaque(data));
            }
            return;
        }
        if let Some(urls) = tool_uses::urls(&fetched) {
            let error = tool_uses::unread(&fetched);
            self.content.used(ServerSideToolUse::new("web_fetch", urls, Value::Object(fetched)).with_error(error));
        }
        if let Some(queries) = tool_uses::queries(&grounding) {
            self.content.used(ServerSideToolUse::new("web_search", queries, Value::Object(grounding)));
        }
    }

    fn choose(&mut self, candidate: Candidate<'_>, events: &mut VecDeque<StreamEvent>) {
        for piece in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.content.grow(piece, events);
        }
        if let Some(notes) = candidate.url_context_metadata {
            self.notes(*notes, events, "web_fetch", tool_uses::urls, |answer| &mut answer.fetched);
        }
        if let Some(notes) = candidate.grounding_metadata {
            self.notes(*notes, events, "web_search", tool_uses::queries, |answer| &mut answer.grounding);
        }
        self.finish =
            candidate.finish_reason.as_ref().map(Word::as_str).and_then(CandidateFinish::parse).or(self.finish);
    }

    /// Adds metadata of Google's tools, which may arrive in several chunks. The first metadata with the input of a tool
    /// is an event.
    fn notes(
        &mut self,
        notes: Map<String, Value>,
        events: &mut VecDeque<StreamEvent>,
        name: &str,
        asked: fn(&Map<String, Value>) -> Option<Value>,
        place: fn(&mut Self) -> &mut Map<String, Value>,
    ) {
        let known = place(self);
        let was_asked = asked(known).is_some();
        known.extend(notes);
        let input = asked(known);
        if !was_asked && !self.content.has_uses {
            events.extend(input.map(|input| StreamEvent::ServerSideTool { name: name.into(), input }));
        }
    }
}

impl ResponseAccumulator for GeminiAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let text = str::from_utf8(body).map_err(|_| protocol_error(server, "the answer is not UTF-8"))?;
        self.read(server, text, &mut VecDeque::new()).map(|_| ())
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        if event.data.trim() == "[DONE]" {
            return Ok(Absorbed::More);
        }
        // Only the end of the body ends the stream.
        self.read(server, &event.data, ready)
    }

    fn parts(&self) -> usize {
        self.content.parts.len()
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn fault(&self) -> Option<&'static str> {
        if !self.begun {
            return Some("the answer is empty");
        }
        let is_stopped = self.finish == Some(CandidateFinish::As(FinishReason::Other)) && self.content.parts.is_empty();
        self.content.fault.or(is_stopped.then_some("the model stopped before it wrote anything"))
    }

    fn complete(mut self) -> Response {
        if self.finish == Some(CandidateFinish::As(FinishReason::Length)) {
            // The token limit may have cut off the last call.
            self.content.parts.pop_if(|part| matches!(part, ResponsePart::ToolCall(_)));
        }
        let finish = self.finish;
        let response = self.response();
        match finish {
            // The parts determine whether it is `Stop` or `ToolCalls`.
            Some(
                CandidateFinish::As(FinishReason::Stop) | CandidateFinish::Malformed | CandidateFinish::UnexpectedCall,
            ) => response,
            Some(CandidateFinish::As(reason)) => response.with_finish(reason),
            None => response.without_reason(),
        }
    }

    /// Calls are dropped, since they must not run.
    fn partial_response(mut self) -> Response {
        self.content.parts.retain(|part| !matches!(part, ResponsePart::ToolCall(_)));
        self.response().with_finish(FinishReason::Other)
    }
}
