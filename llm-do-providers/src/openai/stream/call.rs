//! The calls of an answer, whose pieces are still arriving.

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
    /// Whether it came as the older `function_call`.
    legacy: bool,
    id: String,
    name: String,
    /// Whether it began without an id, and with the name of the call before it: some servers repeat the name in every piece.
    is_doubtful: bool,
    /// How it is shown, once its name is whole.
    shown: Option<ShownCall>,
    arguments: String,
    nesting: Nesting,
}

/// What all events of a call have.
#[derive(Clone, Debug)]
struct ShownCall {
    index: usize,
    /// The pieces share it.
    name: Arc<str>,
}

/// How far the JSON of a text is nested. Each byte is read once, since every piece of a call may ask for it.
#[derive(Clone, Debug, Default)]
struct Nesting {
    /// The length of the text that was read, in bytes.
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

    /// Whether a call has a name, so that it can be read so far.
    pub(super) fn has_name(&self) -> bool {
        self.0.iter().any(|call| !call.name.is_empty())
    }

    /// Whether a call has no name.
    pub(super) fn is_nameless(&self) -> bool {
        self.0.iter().any(|call| call.name.is_empty())
    }

    /// Removes what turned out to be a piece of the call before it.
    pub(super) fn drop_phantoms(&mut self) {
        self.0.retain(|call| !call.is_phantom());
    }

    /// Returns the parts of the calls; those without an id get one from `turn` and their place.
    pub(super) fn into_parts(self, turn: usize) -> impl Iterator<Item = ResponsePart> {
        self.0.into_iter().enumerate().map(move |(place, call)| call.complete(turn, place))
    }

    /// Takes pieces of calls, and returns whether there are any that are not empty.
    pub(super) fn grow<'a>(
        &mut self,
        pieces: impl Iterator<Item = &'a mut ToolCallDelta>,
        mut events: Option<&mut VecDeque<StreamEvent>>,
    ) -> bool {
        let mut has_calls = false;
        for piece in pieces {
            // Refused as soon as the event is read.
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

    /// Takes the older form only where the newer one is not used: servers that send both mean one call.
    pub(super) fn grow_legacy(&mut self, piece: FunctionDelta, events: Option<&mut VecDeque<StreamEvent>>) {
        match self.0.first() {
            Some(call) if !call.legacy => return,
            Some(_) => {}
            None => self.0.push(PartialCall::legacy()),
        }
        self.grow_call(0, None, piece, events);
    }

    /// The place of the call that `piece` belongs to; a new one if it begins a call.
    ///
    /// Its id decides, then its index, either of which may be missing; a call that has only an id so far gets its index later.
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

    /// Gives a call its name and its index in the events, which do not count those that are left out of the answer.
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

    /// Returns a call that comes as the older `function_call`.
    fn legacy() -> Self {
        Self { legacy: true, ..Self::default() }
    }

    /// Whether `piece`, which has the number of this call or none, begins another call: one with a name, and with its own id or
    /// after the arguments of this one are complete.
    fn is_another(&mut self, piece: &ToolCallDelta) -> bool {
        let (name, id) = (piece.name(), piece.id.as_deref().unwrap_or_default());
        let is_same_id = !id.is_empty() && id == self.id;
        if name.is_empty() || self.name.is_empty() || is_same_id {
            return false;
        }
        let is_cut = !self.arguments.is_empty() && !self.nesting.is_closed(&self.arguments);
        match (id.is_empty(), self.id.is_empty()) {
            // Some servers make up an id for every piece.
            (false, false) => !(is_cut && name == self.name),
            _ if is_cut => false,
            _ => name != self.name || !self.arguments.is_empty(),
        }
    }

    /// Whether it is so far the last piece of the call before it, and not another call of the same tool.
    fn is_phantom(&self) -> bool {
        self.is_doubtful && self.arguments.trim().is_empty()
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

/// Keeps the first value: some servers repeat it in each piece.
fn set(slot: &mut String, value: Option<String>) {
    if slot.is_empty() {
        *slot = value.unwrap_or_default();
    }
}

impl Nesting {
    /// Reads what was added to `text` since the last time, and returns whether it ends with the end of an object or a list that
    /// is not in another.
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
