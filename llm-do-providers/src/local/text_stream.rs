//! Incremental decoding of an answer's text, with stop sequences.

/// Decodes bytes to whole characters, up to a stop sequence.
pub(super) struct TextStream<'a> {
    stops: &'a [String],
    /// Whether a leading space is dropped.
    drop_leading_space: bool,
    bytes: Vec<u8>,
    text: String,
    streamed: usize,
}

impl<'a> TextStream<'a> {
    /// Creates an empty text that ends before any of `stops`.
    pub(super) fn new(stops: &'a [String]) -> Self {
        Self { stops, drop_leading_space: false, bytes: Vec::new(), text: String::new(), streamed: 0 }
    }

    /// Sets whether a leading space is dropped. Default: false.
    pub(super) fn drop_leading_space(self, drop_leading_space: bool) -> Self {
        Self { drop_leading_space, ..self }
    }

    /// Appends bytes, which may end within a character; returns whether a stop sequence was reached.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let space = if self.drop_leading_space { bytes.strip_prefix(b" ") } else { None };
        self.drop_leading_space &= bytes.is_empty();
        self.bytes.extend_from_slice(space.unwrap_or(bytes));
        let start = self.text.len();
        self.decode_characters();
        self.truncate_at_stop(start)
    }

    /// Returns the text so far.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the text that has not been streamed, except an end that could become a stop sequence.
    pub(super) fn take_new(&mut self) -> Option<String> {
        let end = self.text.len() - self.held_back_length();
        let take_new = self.text.get(self.streamed..end).filter(|text| !text.is_empty())?.to_owned();
        self.streamed = end;
        Some(take_new)
    }

    /// Ends the text; returns all of it, and the part that has not been streamed.
    pub(super) fn finish(mut self) -> (String, Option<String>) {
        self.text.push_str(&String::from_utf8_lossy(&self.bytes));
        let rest = self.text.get(self.streamed..).filter(|text| !text.is_empty()).map(str::to_owned);
        (self.text, rest)
    }

    /// Decodes the whole characters; invalid bytes are replaced.
    fn decode_characters(&mut self) {
        let mut decoded = 0;
        for chunk in self.bytes.utf8_chunks() {
            self.text.push_str(chunk.valid());
            decoded += chunk.valid().len();
            let invalid = chunk.invalid();
            let is_last = decoded + invalid.len() == self.bytes.len();
            if invalid.is_empty() || (is_last && is_incomplete(invalid)) {
                continue;
            }
            self.text.push(char::REPLACEMENT_CHARACTER);
            decoded += invalid.len();
        }
        self.bytes.drain(..decoded);
    }

    /// Truncates the text before a stop sequence that ends after `start`.
    fn truncate_at_stop(&mut self, start: usize) -> bool {
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let from = (0..=start.saturating_sub(longest)).rev().find(|index| self.text.is_char_boundary(*index));
        let from = from.unwrap_or(0);
        let found = self.stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| self.text[from..].find(stop));
        let first = found.min();
        if let Some(index) = first {
            self.text.truncate(from + index);
            self.bytes.clear();
        }
        first.is_some()
    }

    /// Returns the number of bytes at the end that could be the start of a stop sequence.
    fn held_back_length(&self) -> usize {
        let longest = |stop: &String| {
            let lengths = (1..stop.len()).rev().filter(|length| stop.is_char_boundary(*length));
            lengths.into_iter().find(|length| self.text.ends_with(&stop[..*length]))
        };
        self.stops.iter().filter_map(longest).max().unwrap_or(0)
    }
}

/// Returns whether `bytes` could be the start of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::TextStream;

    #[test]
    fn a_split_character_is_streamed_once_complete() {
        let mut text = TextStream::new(&[]);
        text.push(&[b'a', 0xE2, 0x82]);
        assert_eq!(text.take_new().as_deref(), Some("a"));
        text.push(&[0xAC]);
        assert_eq!(text.take_new().as_deref(), Some("€"));
    }

    #[test]
    fn a_leading_space_can_be_dropped() {
        let mut text = TextStream::new(&[]).drop_leading_space(true);
        text.push(b"");
        text.push(b" one");
        text.push(b" two");
        assert_eq!(text.finish().0, "one two");
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        let mut text = TextStream::new(&[]);
        text.push(&[b'a', 0xFF, b'b', 0xE2]);
        assert_eq!(text.finish().0, "a\u{FFFD}b\u{FFFD}");
    }

    #[test]
    fn a_possible_stop_sequence_is_held_back() {
        let stops = ["END".to_owned()];
        let mut text = TextStream::new(&stops);
        assert!(!text.push(b"one E"));
        assert_eq!(text.take_new().as_deref(), Some("one "));
        assert!(!text.push(b"N"));
        assert_eq!(text.take_new(), None);
        assert!(!text.push(b"X two E"));
        assert_eq!(text.take_new().as_deref(), Some("ENX two "));
        assert!(text.push(b"ND three"));
        assert_eq!(text.finish(), ("one ENX two ".to_owned(), None));
    }
}
