//! A call whose pieces are still arriving.

use std::sync::Arc;

use super::super::wire::ToolCallDelta;
use crate::message::{ResponsePart, ToolCall};

#[derive(Clone, Debug, Default)]
pub(super) struct PartialCall {
    /// The server's index for it, which may be missing or wrong.
    pub(super) index: Option<i64>,
    /// Whether it came as the older `function_call`.
    pub(super) legacy: bool,
    pub(super) id: String,
    pub(super) name: String,
    /// Whether it began without an id, and with the name of the call before it: some servers repeat the name in every piece.
    is_doubtful: bool,
    /// How it is shown, once its name is whole.
    pub(super) shown: Option<ShownCall>,
    pub(super) arguments: String,
    nesting: Nesting,
}

/// What all events of a call have.
#[derive(Clone, Debug)]
pub(super) struct ShownCall {
    pub(super) index: usize,
    /// The pieces share it.
    pub(super) name: Arc<str>,
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

impl PartialCall {
    pub(super) fn new(index: Option<i64>, is_doubtful: bool) -> Self {
        Self { index, is_doubtful, ..Self::default() }
    }

    /// Returns a call that comes as the older `function_call`.
    pub(super) fn legacy() -> Self {
        Self { legacy: true, ..Self::default() }
    }

    /// Whether `piece`, which has the number of this call or none, begins another call: one with a name, and with its own id or
    /// after the arguments of this one are complete.
    pub(super) fn is_another(&mut self, piece: &ToolCallDelta) -> bool {
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
    pub(super) fn is_phantom(&self) -> bool {
        self.is_doubtful && self.arguments.trim().is_empty()
    }

    /// Whether an index that comes now may be its own.
    pub(super) fn waits_for_index(&self) -> bool {
        self.index.is_none() && self.name.is_empty()
    }

    pub(super) fn complete(self, turn: usize, place: usize) -> ResponsePart {
        let id = if self.id.is_empty() { format!("call_{turn}_{place}") } else { self.id };
        ResponsePart::ToolCall(ToolCall::new(id, self.name, self.arguments))
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
