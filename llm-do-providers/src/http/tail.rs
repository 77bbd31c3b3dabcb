//! The end of a streamed body, if it is not an event: servers report a failure so once they stream.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;

/// How much of the end of a body is kept, in bytes; up to twice as much is there before the rest is let go.
const KEPT: usize = 8 << 10;

/// The end of a body, from the last event on; clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<TailBuffer>>);

#[derive(Debug)]
struct TailBuffer {
    /// A copy, as a piece would keep the whole read buffer alive.
    bytes: Vec<u8>,
    /// The piece after that. It is inspected after it was read: the first access to it waits for the memory.
    last: Bytes,
    /// Whether the next byte starts a line.
    begins_line: bool,
}

impl Default for TailBuffer {
    fn default() -> Self {
        Self { bytes: Vec::new(), last: Bytes::new(), begins_line: true }
    }
}

impl Tail {
    /// Takes the next piece.
    pub(super) fn push(&self, piece: &Bytes) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.add_last();
        kept.last = piece.clone();
    }

    /// Returns the error object after the last event, if any.
    pub(super) fn error(&self) -> Option<Value> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.add_last();
        error_in(&String::from_utf8_lossy(&kept.bytes))
    }
}

impl TailBuffer {
    fn add_last(&mut self) {
        let (bytes, piece) = (&mut self.bytes, mem::take(&mut self.last));
        let begins_line = self.begins_line;
        self.begins_line = piece.last().map_or(begins_line, |last| *last == b'\n');
        if ends_in_data(&piece, begins_line) {
            return bytes.clear();
        }
        if bytes.len() + piece.len() > 2 * KEPT {
            let begin = bytes.len().saturating_sub(KEPT);
            bytes.drain(..begin);
        }
        let begin = piece.len().saturating_sub(KEPT);
        bytes.extend_from_slice(&piece[begin..]);
    }
}

/// Whether nothing follows the last event, as with most pieces: their last line is complete, and data.
fn ends_in_data(piece: &[u8], begins_line: bool) -> bool {
    let lines = piece.trim_ascii_end();
    let last = memchr::memrchr(b'\n', lines).map(|end| end + 1).or(begins_line.then_some(0));
    piece[lines.len()..].contains(&b'\n') && last.is_some_and(|last| lines[last..].starts_with(b"data:"))
}

fn error_in(text: &str) -> Option<Value> {
    let (mut place, mut start) = (0, None);
    for line in text.split_inclusive('\n') {
        if line.starts_with("data:") {
            start = None;
        } else if start.is_none() && line.trim_start().starts_with(['{', '[']) {
            start = Some(place);
        }
        place += line.len();
    }
    let json: Value = serde_json::from_str(text.get(start?..)?).ok()?;
    let json = json.get(0).unwrap_or(&json);
    json.get("error").filter(|error| !error.is_null()).cloned()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::{KEPT, Tail, error_in};

    #[test]
    fn an_error_behind_the_events_is_found() {
        for text in [
            "{\"error\":{\"code\":503}}",
            "data: {}\n\n{\n  \"error\": {\n    \"code\": 503\n  }\n}\n",
            ": hello\r\ndata: {\"error\": 1}\r\n\r\n[{\"error\": {\"code\": 503}}]",
        ] {
            assert_eq!(error_in(text), Some(json!({"code": 503})), "{text}");
        }
    }

    #[test]
    fn what_is_an_event_or_no_error_is_not_one() {
        for text in [
            "",
            "data: {\"error\": 1}\n\n",
            "{\"error\": 1}\ndata: {}\n\n",
            "{\"a\": 1}",
            "{\"error\": null}",
            "{\"error\"",
            "[]",
        ] {
            assert_eq!(error_in(text), None, "{text}");
        }
    }

    #[test]
    fn what_stands_behind_the_last_event_is_found_however_it_is_cut() {
        let body = Bytes::from_static(b"data: {\"error\": 1}\n\ndata: 2\n\n{\"error\":\n\"data: \"}\n\n");
        for cut in 0..body.len() {
            let tail = Tail::default();
            tail.push(&body.slice(..cut));
            tail.push(&body.slice(cut..));
            assert_eq!(tail.error(), Some(json!("data: ")), "{cut}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_body_is_kept() {
        let tail = Tail::default();
        for length in [100; 1000].into_iter().chain([3 * KEPT]) {
            tail.push(&Bytes::from(vec![b' '; length]));
            assert!(tail.0.lock().unwrap().bytes.len() <= 2 * KEPT);
        }
        tail.push(&Bytes::from_static(b"\n{\"error\""));
        tail.push(&Bytes::from_static(b": 1}"));
        assert_eq!(tail.error(), Some(json!(1)));
    }
}
