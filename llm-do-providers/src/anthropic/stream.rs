//! Parses a stream of the Messages API, event by event; a whole answer is one event with all blocks.

mod block;
mod usage;

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::{Value, json};

use self::block::Block;
pub(super) use self::block::set_failures;
use self::usage::UsageCounts;
use super::PROVIDER;
use super::wire::{Delta, Event, MessageBody, RawBlock};
use crate::message::{FinishReason, ProviderData, ResponsePart};
use crate::model::StreamEvent;
use crate::response::Response;
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
    block: Block,
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

    /// Takes an event of the type `kind`, adds its stream events to `ready`, and returns whether more may follow.
    pub(super) fn take(&mut self, kind: &str, event: Event<'_>, ready: &mut VecDeque<StreamEvent>) -> bool {
        match kind {
            "message_start" => {
                if let Some(answered) = event.message {
                    self.begin(*answered, ready);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.start(event.index, *block, ready);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.grow(event.index, delta, ready);
                }
            }
            "content_block_stop" => {
                if let Some(growing) = self.find(event.index) {
                    growing.is_whole = true;
                    ready.extend(growing.block.used());
                }
            }
            "message_delta" => {
                self.end(event.delta.unwrap_or_default());
                self.figures.take(event.usage);
            }
            "message_stop" => return false,
            // `ping`, and unknown events.
            _ => {}
        }
        true
    }

    /// Returns the number of its blocks so far.
    pub(super) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Whether the server has sent the reason for the stop.
    pub(super) fn has_finished(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether the server resumes once it gets its answer back.
    pub(super) fn has_paused(&self) -> bool {
        self.stop == Some(Stop::Paused)
    }

    /// Returns the fault of the answer, if any.
    pub(super) fn has_fault(&self) -> Option<&'static str> {
        if !self.begun {
            return Some("the answer is empty");
        }
        let is_nameless = self.blocks.iter().any(|growing| growing.block.is_nameless_call());
        is_nameless.then_some("the answer calls a tool without a name")
    }

    /// Returns the whole answer.
    pub(super) fn into_response(mut self) -> Response {
        let finish = match self.stop {
            Some(Stop::Length) => Some(FinishReason::Length),
            Some(Stop::Refused) => Some(FinishReason::ContentFilter),
            Some(Stop::Other) => Some(FinishReason::Other),
            Some(Stop::Done | Stop::Paused) | None => None,
        };
        // A block is complete if the answer is, even without an event for its end.
        self.blocks.iter_mut().for_each(|growing| growing.is_whole = true);
        if finish == Some(FinishReason::Length)
            && let Some(last) = self.blocks.last_mut()
        {
            last.is_whole = false;
        }
        let has_reason = self.stop.is_some();
        let response = self.response();
        match finish {
            Some(reason) => response.with_finish(reason),
            None if has_reason => response,
            None => response.without_reason(),
        }
    }

    /// Returns the parts of an answer that broke off.
    pub(super) fn into_arrived(self) -> Response {
        self.response().with_finish(FinishReason::Other)
    }

    fn response(self) -> Response {
        let blocks = self.blocks.into_iter().filter_map(|growing| growing.block.into_finished(growing.is_whole));
        let mut parts = block::parts(blocks.collect());
        let note = |data| ResponsePart::Opaque(ProviderData::new(PROVIDER, data));
        parts.extend(self.notes.into_iter().map(note));
        Response::new(self.model.unwrap_or_else(|| self.requested_model.to_string()), parts, self.figures.usage())
    }

    /// Takes a whole answer, or the start of a streamed one.
    pub(super) fn begin(&mut self, answered: MessageBody, ready: &mut VecDeque<StreamEvent>) {
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
        let (stop_reason, stop_details) = (answered.stop_reason, answered.stop_details);
        self.end(Delta { stop_reason, stop_details, container: answered.container, ..Delta::default() });
    }

    fn start(&mut self, index: Option<i64>, block: RawBlock, ready: &mut VecDeque<StreamEvent>) {
        self.begun = true;
        let block = Block::new(block, self.calls);
        self.calls += usize::from(block.is_call());
        ready.extend(block.shown());
        ready.extend(self.blocks.iter().rev().find_map(|before| before.block.done(&block)));
        self.blocks.push(OpenBlock { index, block, is_whole: false });
    }

    fn grow(&mut self, index: Option<i64>, delta: Delta, ready: &mut VecDeque<StreamEvent>) {
        if let Some(growing) = self.find(index) {
            ready.extend(growing.block.grow(delta));
            return;
        }
        if delta.partial_json.is_some() {
            // Its block came without this index.
            if let Some(call) = self.blocks.iter_mut().rfind(|growing| growing.block.is_call()) {
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

    /// The block of that index, or the last one, if the server sends no index.
    fn find(&mut self, index: Option<i64>) -> Option<&mut OpenBlock> {
        self.blocks.iter_mut().rev().find(|growing| index.is_none() || growing.index == index)
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
