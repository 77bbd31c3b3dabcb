//! Parses a stream of chat completions, piece by piece; an unstreamed answer is one piece.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::convert;
use super::dialect::Dialect;
use super::reasoning::{Reasoning, ReasoningDelta};
use super::wire::{Choice, Chunk, Delta, DeltaContent, FunctionDelta, Object, Tokens, ToolCallDelta};
use crate::exchange::MAX_PARTS;
use crate::lenient::{JsonText, Word};
use crate::message::{FinishReason, ResponsePart, ToolCall};
use crate::model::StreamEvent;
use crate::response::Response;

/// The answer so far.
#[derive(Clone, Debug)]
pub(crate) struct ChatAccumulator {
    dialect: &'static Dialect,
    /// The requested model, in case the server does not name it.
    requested_model: Arc<str>,
    /// The length of the history, for calls without an id of the server.
    turn: usize,
    model: Option<String>,
    thinking: Reasoning,
    text: String,
    calls: Vec<PartialCall>,
    refused: bool,
    begun: bool,
    finish: Option<FinishReason>,
    tokens: Option<Tokens>,
}

#[derive(Clone, Debug, Default)]
struct PartialCall {
    /// The server's index for it, which may be missing or wrong.
    index: Option<i64>,
    /// Whether it came as the older `function_call`.
    legacy: bool,
    id: String,
    name: String,
    /// Whether it began without an id, and with the name of the call before it: some servers repeat the name in every piece.
    is_doubtful: bool,
    /// The name, once it is whole, as the pieces share it.
    shown: Option<Arc<str>>,
    arguments: String,
}

impl ChatAccumulator {
    /// Returns the empty answer of the model `requested_model`; calls without ids get ids that are unique in
    /// a conversation as long as `turn` grows.
    pub(super) fn new(dialect: &'static Dialect, requested_model: Arc<str>, turn: usize) -> Self {
        Self {
            dialect,
            requested_model,
            turn,
            model: None,
            thinking: Reasoning::default(),
            text: String::new(),
            calls: Vec::new(),
            refused: false,
            begun: false,
            finish: None,
            tokens: None,
        }
    }

    /// Takes a whole answer, or one piece and adds its events to `events`.
    pub(super) fn take(&mut self, chunk: Chunk<'_>, events: Option<&mut VecDeque<StreamEvent>>) {
        if self.model.is_none() {
            let model = chunk.model.as_ref().map(Word::as_str).filter(|model| !model.is_empty());
            self.model = model.map(str::to_owned);
        }
        if let Some(tokens) = chunk.usage.or_else(|| chunk.x_groq?.usage) {
            self.tokens.get_or_insert_default().update(*tokens);
        }
        if let Some(mut choice) = chunk.choices.and_then(|choices| choices.0) {
            self.begun = true;
            if let Some(tokens) = choice.usage.take() {
                self.tokens.get_or_insert_default().update(*tokens);
            }
            let is_repeated = chunk.object == Some(Object::Whole) && self.has_content();
            if is_repeated && choice.delta.is_none() {
                choice.message = None;
            }
            self.choose(choice, events);
        }
    }

    /// Whether a part of the answer has come.
    fn has_content(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty()
    }

    /// Returns the number of its calls so far.
    pub(super) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Whether the server has sent the reason for the stop.
    pub(super) fn has_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether a call has come that can be read so far: one with a name.
    pub(super) fn has_call(&self) -> bool {
        self.calls.iter().any(|call| !call.name.is_empty())
    }

    /// Returns the fault of the answer, if any.
    pub(super) fn has_fault(&self) -> Option<&'static str> {
        if !self.begun {
            return Some("the answer is empty");
        }
        let is_nameless = self.calls.iter().any(|call| call.name.is_empty());
        is_nameless.then_some("the answer calls a tool without a name")
    }

    /// Returns the whole answer.
    pub(super) fn into_response(mut self) -> Response {
        // The last piece of a call that was complete, and not another call of the same tool.
        self.calls.pop_if(|call| call.is_doubtful && call.arguments.is_empty());
        let finish = if self.refused { Some(FinishReason::ContentFilter) } else { self.finish };
        let response = self.response();
        match finish {
            // The parts decide: servers confuse the two.
            Some(FinishReason::Stop | FinishReason::ToolCalls) => response,
            Some(reason) => response.with_finish(reason),
            None => response.without_reason(),
        }
    }

    /// Returns the parts of an answer that broke off, without calls, which may be incomplete.
    pub(super) fn into_arrived(mut self) -> Response {
        self.calls.clear();
        self.response().with_finish(FinishReason::Other)
    }

    fn response(self) -> Response {
        let mut parts = Vec::with_capacity(2 + self.calls.len());
        parts.extend(self.thinking.into_part(self.dialect, &self.requested_model, !self.calls.is_empty()));
        parts.extend((!self.text.is_empty()).then_some(ResponsePart::Text { text: self.text }));
        parts.extend(self.calls.into_iter().enumerate().map(|(place, call)| call.complete(self.turn, place)));
        let usage = convert::usage(self.tokens.unwrap_or_default());
        Response::new(self.model.unwrap_or_else(|| self.requested_model.to_string()), parts, usage)
    }

    fn choose(&mut self, choice: Choice<'_>, events: Option<&mut VecDeque<StreamEvent>>) {
        let is_whole = choice.delta.is_none();
        if choice.is_unexpected_call() {
            self.finish = Some(FinishReason::ToolCalls);
        } else if let Some(reason) = choice.finish_reason() {
            self.finish = convert::finish_reason(reason).or(self.finish);
        }
        if let Some(mut delta) = choice.delta.or(choice.message) {
            self.grow(&mut delta, is_whole, events);
        }
    }

    /// Takes what a piece has, out of its place: to move it whole would cost more.
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
            let (reasoning_content, reasoning) = (reasoning_content.take(), reasoning.take());
            let piece = ReasoningDelta { reasoning_content, reasoning, details, chunks: thoughts, is_whole };
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
        let has_calls = self.grow_calls(pieces, events.as_deref_mut());
        if let Some(piece) = function_call.take().filter(|piece| !has_calls && !piece.is_empty()) {
            self.grow_legacy(*piece, events);
        }
    }

    fn push_text(&mut self, more: String, events: Option<&mut VecDeque<StreamEvent>>) {
        match events.filter(|_| !more.is_empty()) {
            Some(events) => {
                push(&mut self.text, &more);
                events.push_back(StreamEvent::Text(more));
            }
            None => append(&mut self.text, more),
        }
    }

    /// Takes pieces of calls, and returns whether there are any that are not empty.
    fn grow_calls<'a>(
        &mut self,
        pieces: impl Iterator<Item = &'a mut ToolCallDelta>,
        mut events: Option<&mut VecDeque<StreamEvent>>,
    ) -> bool {
        let mut has_calls = false;
        for piece in pieces {
            // Refused as soon as the event is read.
            if self.calls.len() > MAX_PARTS {
                break;
            }
            if !piece.is_empty() {
                has_calls = true;
                let place = self.place(piece);
                let function = piece.function.take().unwrap_or_default();
                self.grow_call(place, piece.id.take(), function, events.as_deref_mut());
            }
        }
        has_calls
    }

    /// Takes the older form only where the newer one is not used: servers that send both mean one call.
    fn grow_legacy(&mut self, piece: FunctionDelta, events: Option<&mut VecDeque<StreamEvent>>) {
        match self.calls.first() {
            Some(call) if !call.legacy => return,
            Some(_) => {}
            None => self.calls.push(PartialCall { legacy: true, ..PartialCall::default() }),
        }
        self.grow_call(0, None, piece, events);
    }

    /// The place of the call that `piece` belongs to; a new one if it begins a call.
    ///
    /// Its id decides, then its index, either of which may be missing; a call that has only an id so far gets its index later.
    fn place(&mut self, piece: &ToolCallDelta) -> usize {
        let id = piece.id.as_deref().unwrap_or_default();
        let by_id = self.calls.iter().rposition(|call| !id.is_empty() && call.id == id);
        let last = self.calls.len().checked_sub(1);
        let known = by_id.or_else(|| match piece.index {
            Some(_) => {
                let by_index = self.calls.iter().rposition(|call| call.index == piece.index);
                by_index.or(last.filter(|last| self.calls[*last].waits_for_index()))
            }
            None => last,
        });
        if let Some(place) = known.filter(|place| !self.calls[*place].is_another(piece)) {
            let call = &mut self.calls[place];
            call.index = call.index.or(piece.index);
            return place;
        }
        let is_same = |place: usize| piece.name() == self.calls[place].name && id.is_empty();
        let is_doubtful = known.is_some_and(is_same);
        self.calls.push(PartialCall { index: piece.index, is_doubtful, ..PartialCall::default() });
        self.calls.len() - 1
    }

    fn grow_call(
        &mut self,
        place: usize,
        id: Option<String>,
        piece: FunctionDelta,
        events: Option<&mut VecDeque<StreamEvent>>,
    ) {
        let call = &mut self.calls[place];
        let named_before = !call.name.is_empty();
        set(&mut call.id, id);
        set(&mut call.name, piece.name);
        let mut more = piece.arguments.map(JsonText::into_string).unwrap_or_default();
        let Some(events) = events else { return append(&mut call.arguments, more) };
        push(&mut call.arguments, &more);
        if call.name.is_empty() || (named_before && more.is_empty()) || (call.is_doubtful && more.is_empty()) {
            return;
        }
        if !named_before {
            more.clone_from(&call.arguments);
        }
        let name = Arc::clone(call.shown.get_or_insert_with(|| call.name.as_str().into()));
        events.push_back(StreamEvent::ToolCall { index: place, name, arguments: more });
    }
}

impl PartialCall {
    /// Whether `piece`, which has the number of this call or none, begins another call: one with a name, and with its own id or
    /// after the arguments of this one are complete.
    fn is_another(&self, piece: &ToolCallDelta) -> bool {
        let (name, id) = (piece.name(), piece.id.as_deref().unwrap_or_default());
        if name.is_empty() || self.name.is_empty() {
            return false;
        }
        let is_cut = !self.arguments.is_empty() && !self.is_complete();
        match (id.is_empty(), self.id.is_empty()) {
            // Some servers make up an id for every piece.
            (false, false) => id != self.id && !(is_cut && name == self.name),
            _ if is_cut => false,
            _ => name != self.name || !self.arguments.is_empty(),
        }
    }

    /// Whether its arguments are a whole value.
    fn is_complete(&self) -> bool {
        // Most pieces end elsewhere, and are not read again for this.
        let may_be = self.arguments.trim_end().ends_with(['}', ']']);
        may_be && serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }

    /// Whether an index that comes now may be its own.
    fn waits_for_index(&self) -> bool {
        self.index.is_none() && self.name.is_empty()
    }

    fn complete(self, turn: usize, place: usize) -> ResponsePart {
        let id = if self.id.is_empty() { format!("call_{turn}_{place}") } else { self.id };
        ResponsePart::ToolCall(ToolCall::new(id, self.name, self.arguments))
    }
}

/// The memory in bytes that a text of pieces has from the start.
const FIRST_CAPACITY: usize = 256;

/// Adds a piece of a stream to a text.
fn push(text: &mut String, more: &str) {
    if text.capacity() == 0 {
        text.reserve(FIRST_CAPACITY.max(more.len()));
    }
    text.push_str(more);
}

/// Adds a piece to a text; the first one is moved.
fn append(text: &mut String, more: String) {
    if text.is_empty() {
        *text = more;
    } else {
        text.push_str(&more);
    }
}

/// Keeps the first value: some servers repeat it in each piece.
fn set(slot: &mut String, value: Option<String>) {
    if slot.is_empty() {
        *slot = value.unwrap_or_default();
    }
}
