//! An answer's text as it grows out of tokens.

/// Text that comes in bytes and goes out in whole characters, up to a stop text.
pub(super) struct Text<'a> {
    stops: &'a [String],
    /// Whether a space at the beginning is no part of the text.
    spaced: bool,
    bytes: Vec<u8>,
    whole: String,
    sent: usize,
}

impl<'a> Text<'a> {
    /// Returns an empty text that ends before any of `stops`.
    pub(super) fn new(stops: &'a [String]) -> Self {
        Self { stops, spaced: false, bytes: Vec::new(), whole: String::new(), sent: 0 }
    }

    /// Says whether a space at the beginning is no part of the text. Default: it is.
    pub(super) fn spaced(self, spaced: bool) -> Self {
        Self { spaced, ..self }
    }

    /// Adds bytes, which may end within a character; returns whether the text has come to a stop text.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        let space = if self.spaced { bytes.strip_prefix(b" ") } else { None };
        self.spaced &= bytes.is_empty();
        self.bytes.extend_from_slice(space.unwrap_or(bytes));
        let start = self.whole.len();
        self.take_whole_characters();
        self.cut_at_stop(start)
    }

    /// Returns the text so far.
    pub(super) fn as_str(&self) -> &str {
        &self.whole
    }

    /// Returns what may be shown and was not: all but what could become a stop text.
    pub(super) fn fresh(&mut self) -> Option<String> {
        let end = self.whole.len() - self.doubtful();
        let fresh = self.whole.get(self.sent..end).filter(|text| !text.is_empty())?.to_owned();
        self.sent = end;
        Some(fresh)
    }

    /// Ends the text; returns all of it, and what of it was not shown.
    pub(super) fn finish(mut self) -> (String, Option<String>) {
        self.whole.push_str(&String::from_utf8_lossy(&self.bytes));
        let rest = self.whole.get(self.sent..).filter(|text| !text.is_empty()).map(str::to_owned);
        (self.whole, rest)
    }

    /// Moves what are whole characters; bytes that can never be one are replaced.
    fn take_whole_characters(&mut self) {
        let mut taken = 0;
        for chunk in self.bytes.utf8_chunks() {
            self.whole.push_str(chunk.valid());
            taken += chunk.valid().len();
            let invalid = chunk.invalid();
            let is_last = taken + invalid.len() == self.bytes.len();
            if invalid.is_empty() || (is_last && is_incomplete(invalid)) {
                continue;
            }
            self.whole.push(char::REPLACEMENT_CHARACTER);
            taken += invalid.len();
        }
        self.bytes.drain(..taken);
    }

    /// Cuts the text before a stop text that ends behind `start`.
    fn cut_at_stop(&mut self, start: usize) -> bool {
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let from = (0..=start.saturating_sub(longest)).rev().find(|place| self.whole.is_char_boundary(*place));
        let from = from.unwrap_or(0);
        let found = self.stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| self.whole[from..].find(stop));
        let first = found.min();
        if let Some(place) = first {
            self.whole.truncate(from + place);
            self.bytes.clear();
        }
        first.is_some()
    }

    /// Returns how many bytes at the end could be the beginning of a stop text.
    fn doubtful(&self) -> usize {
        let longest = |stop: &String| {
            let lengths = (1..stop.len()).rev().filter(|length| stop.is_char_boundary(*length));
            lengths.into_iter().find(|length| self.whole.ends_with(&stop[..*length]))
        };
        self.stops.iter().filter_map(longest).max().unwrap_or(0)
    }
}

/// Whether `bytes` could be the beginning of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn a_character_in_two_pieces_is_shown_once_whole() {
        let mut text = Text::new(&[]);
        text.push(&[b'a', 0xE2, 0x82]);
        assert_eq!(text.fresh().as_deref(), Some("a"));
        text.push(&[0xAC]);
        assert_eq!(text.fresh().as_deref(), Some("€"));
    }

    #[test]
    fn a_space_before_the_first_word_is_left_out_if_it_is_no_part_of_the_text() {
        let mut text = Text::new(&[]).spaced(true);
        text.push(b"");
        text.push(b" one");
        text.push(b" two");
        assert_eq!(text.finish().0, "one two");
    }

    #[test]
    fn bytes_that_are_no_character_are_replaced() {
        let mut text = Text::new(&[]);
        text.push(&[b'a', 0xFF, b'b', 0xE2]);
        assert_eq!(text.finish().0, "a\u{FFFD}b\u{FFFD}");
    }

    #[test]
    fn what_could_become_a_stop_text_is_held_back() {
        let stops = ["END".to_owned()];
        let mut text = Text::new(&stops);
        assert!(!text.push(b"one E"));
        assert_eq!(text.fresh().as_deref(), Some("one "));
        assert!(!text.push(b"N"));
        assert_eq!(text.fresh(), None);
        assert!(!text.push(b"X two E"));
        assert_eq!(text.fresh().as_deref(), Some("ENX two "));
        assert!(text.push(b"ND three"));
        assert_eq!(text.finish(), ("one ENX two ".to_owned(), None));
    }
}
