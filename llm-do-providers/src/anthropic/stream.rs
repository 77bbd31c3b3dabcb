//! Accumulates a stream of the Messages API, event by event; a whole answer is one event with all blocks.

mod block;
#[cfg(test)]
mod tests;
mod usage;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use serde_json::{Value, json};

use self::block::AnswerBlock;
use self::usage::UsageCounts;
use super::wire::{Delta, MessageBody, MessagesEvent, RawBlock};
use super::{PROVIDER, fault, history};
use crate::error::ProviderError;
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json};
use crate::http::{Endpoint, Event, has_content};
use crate::message::{FinishReason, ProviderData, ResponsePart};
use crate::model::StreamEvent;
use crate::programs::Programs;
use crate::response::Response;
use crate::sent_history::Repeats;
use crate::usage::ServiceTier;

/// The answer so far.
#[derive(Debug, Default)]
pub(crate) struct AnthropicAccumulator {
    /// The requested model, in case the server does not name it.
    requested_model: Arc<str>,
    model: Option<String>,
    begun: bool,
    blocks: Vec<OpenBlock>,
    calls: usize,
    stop: Option<Stop>,
    /// The fields of the answer other than its blocks.
    notes: Vec<Value>,
    figures: UsageCounts,
}

/// A block and its state.
#[derive(Debug)]
struct OpenBlock {
    /// The server's index for it.
    index: Option<i64>,
    block: AnswerBlock,
    is_whole: bool,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The model finished its text, or calls tools; the parts show which.
    Done,
    Length,
    Refused,
    Paused,
    Other,
}

impl AnthropicAccumulator {
    /// Returns the empty answer of the model `requested_model` to a request for the tier `tier`.
    pub(super) fn new(requested_model: Arc<str>, tier: ServiceTier) -> Self {
        Self { requested_model, figures: UsageCounts::at_tier(tier), ..Self::default() }
    }

    fn response(self) -> Response {
        let blocks = self.blocks.into_iter().filter_map(|open| open.block.into_finished(open.is_whole));
        let mut parts = block::parts(blocks.collect());
        let note = |data| ResponsePart::Opaque(ProviderData::new(PROVIDER, data));
        parts.extend(self.notes.into_iter().map(note));
        Response::new(self.model.unwrap_or_else(|| self.requested_model.to_string()), parts, self.figures.usage())
    }

    /// Adds a whole answer, or the start of a streamed one.
    fn begin(&mut self, answered: MessageBody, ready: &mut VecDeque<StreamEvent>) {
        self.begun = true;
        self.model = answered.model.filter(|model| !model.is_empty()).or(self.model.take());
        self.figures.take(answered.usage);
        for block in answered.content.into_iter().flatten() {
            match block {
                Value::Object(block) => self.start(None, block, ready),
                Value::String(text) => {
                    let block = [("type".to_owned(), "text".into()), ("text".to_owned(), text.into())];
                    self.start(None, RawBlock::from_iter(block), ready);
                }
                _ => {}
            }
        }
        self.end(Delta {
            stop_reason: answered.stop_reason,
            stop_details: answered.stop_details,
            container: answered.container,
            ..Delta::default()
        });
    }

    fn start(&mut self, index: Option<i64>, block: RawBlock, ready: &mut VecDeque<StreamEvent>) {
        self.begun = true;
        let block = AnswerBlock::new(block, self.calls);
        self.calls += usize::from(block.is_call());
        ready.extend(block.shown());
        ready.extend(self.blocks.iter().rev().find_map(|before| before.block.done(&block)));
        self.blocks.push(OpenBlock { index, block, is_whole: false });
    }

    fn grow(&mut self, index: Option<i64>, delta: Delta, ready: &mut VecDeque<StreamEvent>) {
        if let Some(open) = self.find(index) {
            ready.extend(open.block.grow(delta));
            return;
        }
        if delta.partial_json.is_some() {
            // Its block arrived without this index.
            if let Some(call) = self.blocks.iter_mut().rfind(|open| open.block.is_call()) {
                ready.extend(call.block.grow(delta));
            }
            return;
        }
        // Some servers do not announce a text block.
        let block = if delta.thinking.is_some() { "thinking" } else { "text" };
        self.start(index, RawBlock::from_iter([("type".to_owned(), block.into())]), ready);
        if let Some(started) = self.blocks.last_mut() {
            ready.extend(started.block.grow(delta));
        }
    }

    /// Returns the block with the index, or the last one if the server sends no index.
    fn find(&mut self, index: Option<i64>) -> Option<&mut OpenBlock> {
        self.blocks.iter_mut().rev().find(|open| index.is_none() || open.index == index)
    }

    fn end(&mut self, delta: Delta) {
        let stop = delta.stop_reason.filter(|word| !word.is_empty()).map(|word| match word.as_str() {
            "end_turn" | "stop_sequence" | "tool_use" => Stop::Done,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "refusal" => Stop::Refused,
            "pause_turn" => Stop::Paused,
            _ => Stop::Other,
        });
        self.stop = stop.or(self.stop);
        self.note("refusal", delta.stop_details);
        self.figures.take_container(delta.container.as_deref());
        self.note("container", delta.container);
    }

    /// Keeps data that is not a block, under a type of this crate.
    fn note(&mut self, r#type: &str, value: Option<Box<Value>>) {
        let Some(Value::Object(mut note)) = value.map(|value| *value) else { return };
        note.insert("type".to_owned(), json!(r#type));
        self.notes.retain(|known| known["type"] != r#type);
        self.notes.push(Value::Object(note));
    }
}

impl ResponseAccumulator for AnthropicAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let answered: MessageBody = serde_json::from_slice(body).map_err(|error| invalid_json(server, &error))?;
        if let Some(error) = answered.error.as_ref().filter(|error| has_content(error)) {
            return Err(fault::reported(server, error));
        }
        if answered.content.is_some() || answered.stop_reason.is_some() {
            self.begin(answered, &mut VecDeque::new());
        }
        Ok(())
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        if event.data.trim() == "[DONE]" {
            // This is the end mark of chat completions. Proxies add it even to a cut-off answer.
            return Ok(Absorbed::More);
        }
        let mut parsed: MessagesEvent<'_> =
            serde_json::from_str(&event.data).map_err(|error| invalid_json(server, &error))?;
        if let Some(error) = parsed.error.as_ref().filter(|error| has_content(error)) {
            return Err(fault::reported(server, error));
        }
        let word = mem::take(&mut parsed.kind);
        // By the standard, an event without a name is called `message`.
        let name = event.name.as_deref().filter(|name| *name != "message").unwrap_or_default();
        let kind = if word.as_str().is_empty() { name } else { word.as_str() };
        match kind {
            // The whole answer in place of its pieces.
            "message" => {
                let whole = serde_json::from_str(&event.data).map_err(|error| invalid_json(server, &error))?;
                self.begin(whole, ready);
            }
            "message_start" => {
                if let Some(answered) = parsed.message {
                    self.begin(*answered, ready);
                }
            }
            "content_block_start" => {
                if let Some(block) = parsed.content_block {
                    self.start(parsed.index, *block, ready);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = parsed.delta {
                    self.grow(parsed.index, delta, ready);
                }
            }
            "content_block_stop" => {
                if let Some(open) = self.find(parsed.index) {
                    open.is_whole = true;
                    ready.extend(open.block.used());
                }
            }
            "message_delta" => {
                self.end(parsed.delta.unwrap_or_default());
                self.figures.take(parsed.usage);
            }
            "message_stop" => return Ok(Absorbed::End),
            "ping" => {}
            _ if kind.starts_with("content_block_") => {}
            _ => return Ok(Absorbed::Unknown),
        }
        Ok(Absorbed::More)
    }

    fn error(server: &Endpoint, error: &Value) -> ProviderError {
        fault::reported(server, error)
    }

    fn parts(&self) -> usize {
        self.blocks.len()
    }

    fn is_finished(&self) -> bool {
        self.stop.is_some()
    }

    fn fault(&self) -> Option<&'static str> {
        if !self.begun {
            return Some("the answer is empty");
        }
        let is_nameless = self.blocks.iter().any(|open| open.block.is_nameless_call());
        is_nameless.then_some("the answer calls a tool without a name")
    }

    fn complete(mut self) -> Response {
        // A block is complete if the answer is, even without an event for its end.
        for open in &mut self.blocks {
            open.is_whole = true;
        }
        if self.stop == Some(Stop::Length)
            && let Some(last) = self.blocks.last_mut()
        {
            last.is_whole = false;
        }
        let stop = self.stop;
        let response = self.response();
        match stop {
            Some(Stop::Length) => response.with_finish(FinishReason::Length),
            Some(Stop::Refused) => response.with_finish(FinishReason::ContentFilter),
            Some(Stop::Other) => response.with_finish(FinishReason::Other),
            Some(Stop::Done | Stop::Paused) => response,
            None => response.without_reason(),
        }
    }

    fn partial_response(self) -> Response {
        self.response().with_finish(FinishReason::Other)
    }

    fn is_paused(&self) -> bool {
        self.stop == Some(Stop::Paused)
    }

    /// Appends the unchanged answer to the messages of the request.
    fn continuation(sent: &[u8], paused: &Response) -> Option<Vec<u8>> {
        let Ok(Value::Array(more)) =
            serde_json::to_value(history::assistant(&paused.parts, |_| Repeats::default(), &Programs::ALL, true))
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
        if let Some(container) = history::container(&paused.parts) {
            body["container"] = container.into();
        }
        serde_json::to_vec(&body).ok()
    }

    /// The result of a use may arrive after the pause, and report a failure.
    fn merge_paused(answer: &mut Response) {
        block::set_failures(&mut answer.parts);
    }
}
