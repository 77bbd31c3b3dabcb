//! The calls of an answer, whose deltas are still arriving.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{append, push};
use crate::exchange::MAX_PARTS;
use crate::lenient::JsonText;
use crate::message::{ResponsePart, ToolCall};
use crate::model::StreamEvent;
use crate::openai::wire::{FunctionDelta, ToolCallDelta};

/// The calls of an answer so far.
#[derive(Clone, Debug, Default)]
pub(super) struct CallList(Vec<PartialCall>);

#[derive(Clone, Debug, Default)]
struct PartialCall {
    /// The server's index for it, which may be missing or wrong.
    index: Option<i64>,
    /// Whether it arrived as the older `function_call`.
    legacy: bool,
    id: String,
    name: String,
    /// Whether it started without an id, and with the name of the previous call: some servers repeat the name in every
    /// delta.
    is_doubtful: bool,
    /// The fields of its events, once its name is complete.
    shown: Option<ShownCall>,
    arguments: String,
    nesting: Nesting,
}

/// The fields that all events of a call have.
#[derive(Clone, Debug)]
struct ShownCall {
    index: usize,
    /// Shared by the events.
    name: Arc<str>,
}

/// The nesting of a JSON text that arrives in deltas. Each byte is read once.
#[derive(Clone, Debug, Default)]
struct Nesting {
    /// The length of the text read so far, in bytes.
    length: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    is_closed: bool,
}

impl CallList {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether any call has a name.
    pub(super) fn has_name(&self) -> bool {
        self.0.iter().any(|call| !call.name.is_empty())
    }

    /// Whether any call has no name.
    pub(super) fn is_nameless(&self) -> bool {
        self.0.iter().any(|call| call.name.is_empty())
    }

    /// Removes calls that turned out to be deltas of the previous call.
    pub(super) fn drop_phantoms(&mut self) {
        self.0.retain(|call| !call.is_phantom());
    }

    /// Returns the parts of the calls; a call without an id gets one that is unique in a conversation whose length
    /// `turn` grows.
    pub(super) fn into_parts(self, turn: usize) -> impl Iterator<Item = ResponsePart> {
        self.0.into_iter().enumerate().map(move |(place, call)| call.complete(turn, place))
    }

    /// Adds deltas of calls; returns whether any of them is not empty.
    pub(super) fn grow<'a>(
        &mut self,
        pieces: impl Iterator<Item = &'a mut ToolCallDelta>,
        mut events: Option<&mut VecDeque<StreamEvent>>,
    ) -> bool {
        let mut has_calls = false;
        for piece in pieces {
            // Such an answer is refused when the event has been read.
            if self.0.len() > MAX_PARTS {
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

    /// Adds a delta in the older form, unless the answer uses the newer one: servers that send both mean one call.
    pub(super) fn grow_legacy(&mut self, piece: FunctionDelta, events: Option<&mut VecDeque<StreamEvent>>) {
        match self.0.first() {
            Some(call) if !call.legacy => return,
            Some(_) => {}
            None => self.0.push(PartialCall::legacy()),
        }
        self.grow_call(0, None, piece, events);
    }

    /// Returns the index of the call that `piece` belongs to; a new one if it starts a call.
    ///
    /// The id decides, then the server's index. Either may be missing; a call with only an id gets its index later.
    fn place(&mut self, piece: &ToolCallDelta) -> usize {
        let id = piece.id.as_deref().unwrap_or_default();
        let by_id = self.0.iter().rposition(|call| !id.is_empty() && call.id == id);
        let last = self.0.len().checked_sub(1);
        let known = by_id.or_else(|| match piece.index {
            Some(_) => {
                let by_index = self.0.iter().rposition(|call| call.index == piece.index);
                by_index.or(last.filter(|last| self.0[*last].waits_for_index()))
            }
            None => last,
        });
        if let Some(place) = known.filter(|place| !self.0[*place].is_another(piece)) {
            let call = &mut self.0[place];
            call.index = call.index.or(piece.index);
            return place;
        }
        let is_same = |place: usize| piece.name() == self.0[place].name && id.is_empty();
        let is_doubtful = known.is_some_and(is_same);
        self.0.push(PartialCall::new(piece.index, is_doubtful));
        self.0.len() - 1
    }

    fn grow_call(
        &mut self,
        place: usize,
        id: Option<String>,
        piece: FunctionDelta,
        events: Option<&mut VecDeque<StreamEvent>>,
    ) {
        let call = &mut self.0[place];
        set(&mut call.id, id);
        set(&mut call.name, piece.name);
        let mut more = piece.arguments.map(JsonText::into_string).unwrap_or_default();
        let Some(events) = events else { return append(&mut call.arguments, more) };
        push(&mut call.arguments, &more);
        if call.name.is_empty() || call.is_phantom() || (call.shown.is_some() && more.is_empty()) {
            return;
        }
        let ShownCall { index, name } = if let Some(shown) = &call.shown {
            shown.clone()
        } else {
            more.clone_from(&call.arguments);
            self.show(place)
        };
        events.push_back(StreamEvent::ToolCall { index, name, arguments: more });
    }

    /// Sets the fields of a call's events. The index does not count calls that are left out of the answer.
    fn show(&mut self, place: usize) -> ShownCall {
        let index = self.0[..place].iter().filter(|call| !call.is_phantom()).count();
        let call = &mut self.0[place];
        call.shown.insert(ShownCall { index, name: call.name.as_str().into() }).clone()
    }
}

impl PartialCall {
    fn new(index: Option<i64>, is_doubtful: bool) -> Self {
        Self { index, is_doubtful, ..Self::default() }
    }

    /// Returns a call in the form of the older `function_call`.
    fn legacy() -> Self {
        Self { legacy: true, ..Self::default() }
    }

    /// Whether `piece`, with the index of this call or none, starts another call: it has a name, and either its own id
    /// or the arguments of this call are complete.
    fn is_another(&mut self, piece: &ToolCallDelta) -> bool {
        let (name, id) = (piece.name(), piece.id.as_deref().unwrap_or_default());
        let is_same_id = !id.is_empty() && id == self.id;
        if name.is_empty() || self.name.is_empty() || is_same_id {
            return false;
        }
        let is_cut = !self.arguments.is_empty() && !self.nesting.is_closed(&self.arguments);
        match (id.is_empty(), self.id.is_empty()) {
            // Some servers invent an id for every delta.
            (false, false) => !(is_cut && name == self.name),
            _ if is_cut => false,
            _ => name != self.name || !self.arguments.is_empty(),
        }
    }

    /// Whether it is, so far, only the last delta of the previous call, and not another call of the same tool.
    fn is_phantom(&self) -> bool {
        self.is_doubtful && self.arguments.trim().is_empty()
    }

    /// Whether the next index may be that of this call.
    fn waits_for_index(&self) -> bool {
        self.index.is_none() && self.name.is_empty()
    }

    fn complete(self, turn: usize, place: usize) -> ResponsePart {
        let id = if self.id.is_empty() { format!("call_{turn}_{place}") } else { self.id };
        ResponsePart::ToolCall(ToolCall::new(id, self.name, self.arguments))
    }
}

/// Sets a value once: some servers repeat it in each delta.
fn set(slot: &mut String, value: Option<String>) {
    if slot.is_empty() {
        *slot = value.unwrap_or_default();
    }
}

impl Nesting {
    /// Reads the bytes of `text` since the last call; returns whether it ends with the end of a top-level object or
    /// list.
    fn is_closed(&mut self, text: &str) -> bool {
        for byte in &text.as_bytes()[self.length..] {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                byte if byte.is_ascii_whitespace() => continue,
                _ => {}
            }
            self.is_closed = !self.in_string && self.depth == 0 && matches!(byte, b'}' | b']');
        }
        self.length = text.len();
        self.is_closed
    }
}

#[cfg(test)]
mod tests {
    use super::Nesting;

    #[test]
    fn a_text_is_closed_however_it_is_cut() {
        for (text, is_closed) in [
            ("", false),
            ("{}", true),
            ("{\"a\": [1, {}]} \n", true),
            ("{\"a\": \"}\\\"}\"}", true),
            ("{\"a\": \"\\\\\"}", true),
            ("{\"a\": \"}", false),
            ("{\"a\": {}", false),
            ("{\"a\": \"\\\"}", false),
            ("1", false),
        ] {
            for cut in 0..=text.len() {
                let mut nesting = Nesting::default();
                nesting.is_closed(&text[..cut]);
                assert_eq!(nesting.is_closed(text), is_closed, "{text} {cut}");
            }
        }
    }
}
