//! What stands at the end of a streamed body and is no event: servers report a failure so that comes once they stream.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// How much of the end of a body is kept, in bytes; up to twice as much is there before the rest is let go.
const KEPT: usize = 8 << 10;

/// The end of a body, from the last event on; clones are of the same. It is a copy, as a piece would hold all that was
/// read with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    /// Takes the next piece.
    pub(super) fn push(&self, piece: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ends_in_data(piece) {
            return kept.clear();
        }
        if kept.len() + piece.len() > 2 * KEPT {
            let begin = kept.len().saturating_sub(KEPT);
            kept.drain(..begin);
        }
        let begin = piece.len().saturating_sub(KEPT);
        kept.extend_from_slice(&piece[begin..]);
    }

    /// Returns the error object that stands behind the last event, if one does.
    pub(super) fn error(&self) -> Option<Value> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        error_in(&String::from_utf8_lossy(&kept))
    }
}

/// Whether nothing stands behind the last event, as with most pieces: their last line is whole, and data.
fn ends_in_data(piece: &[u8]) -> bool {
    let lines = piece.trim_ascii_end();
    let last = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    piece[lines.len()..].contains(&b'\n') && lines[last..].starts_with(b"data:")
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
    let said: Value = serde_json::from_str(text.get(start?..)?).ok()?;
    let said = said.get(0).unwrap_or(&said);
    said.get("error").filter(|error| !error.is_null()).cloned()
}

#[cfg(test)]
mod tests {
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
        let body = b"data: {\"error\": 1}\n\ndata: 2\n\n{\"error\":\n\"data: \"}\n\n";
        for cut in 0..body.len() {
            let tail = Tail::default();
            tail.push(&body[..cut]);
            tail.push(&body[cut..]);
            assert_eq!(tail.error(), Some(json!("data: ")), "{cut}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_body_is_kept() {
        let tail = Tail::default();
        for length in [100; 1000].into_iter().chain([3 * KEPT]) {
            tail.push(&vec![b' '; length]);
            assert!(tail.0.lock().unwrap().len() <= 2 * KEPT);
        }
        tail.push(b"\n{\"error\"");
        tail.push(b": 1}");
        assert_eq!(tail.error(), Some(json!(1)));
    }
}
