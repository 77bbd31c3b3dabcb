//! The end of a streamed body that is not an event: some servers report a failure this way after they started to
//! stream.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Deserializer, Value};

use super::WHOLE_SIZE;
use super::error_response::{error_of, has_content};

/// The size of the end that is kept, in bytes. Up to twice as much is buffered.
const KEPT: usize = 4 << 10;

/// The end of a body; clones share it.
///
/// It is a copy: a chunk would keep the whole read buffer alive.
#[derive(Clone, Debug)]
pub(super) struct Tail(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    bytes: Mutex<Vec<u8>>,
    /// Whether the body is JSON, which is kept completely.
    is_json: AtomicBool,
    has_ended: AtomicBool,
}

impl Tail {
    pub(super) fn new() -> Self {
        let bytes = Mutex::new(Vec::with_capacity(2 * KEPT));
        Self(Arc::new(Shared { bytes, is_json: AtomicBool::new(false), has_ended: AtomicBool::new(false) }))
    }

    /// Adds the next chunk of a JSON body; returns `false` if the body is too long to be kept.
    pub(super) fn keep(&self, piece: &[u8]) -> bool {
        let mut bytes = self.bytes();
        let fits = bytes.len() + piece.len() <= WHOLE_SIZE;
        if fits {
            bytes.extend_from_slice(piece);
        } else {
            bytes.clear();
        }
        self.0.is_json.store(fits, Ordering::Relaxed);
        fits
    }

    /// Returns the body if it is JSON.
    pub(super) fn json(&self) -> Option<Vec<u8>> {
        self.0.is_json.load(Ordering::Relaxed).then(|| self.bytes().clone())
    }

    /// Records the regular end of the body.
    pub(super) fn end(&self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::Relaxed)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the next chunk.
    pub(super) fn push(&self, piece: &[u8]) {
        let mut bytes = self.bytes();
        if bytes.len() + piece.len() <= 2 * KEPT {
            return bytes.extend_from_slice(piece);
        }
        let cut = bytes.len().saturating_sub(KEPT.saturating_sub(piece.len()));
        bytes.drain(..cut);
        bytes.extend_from_slice(&piece[piece.len().saturating_sub(KEPT)..]);
        // The rest of a cut-off line is not the start of an error.
        bytes[0] = b'.';
    }

    /// Returns the error after the last event, if any: an object, or the field `error` of an event, which llama.cpp sends.
    pub(super) fn error(&self) -> Option<Value> {
        error_in(&self.text())
    }
}

fn error_in(text: &str) -> Option<Value> {
    let text = text.trim_start_matches('\u{feff}').replace('\r', "\n");
    let (mut place, mut start, mut field) = (0, None, None);
    for line in text.split_inclusive('\n') {
        let data = line.strip_prefix("data:").map(str::trim);
        // An end mark may follow the error.
        if data.is_some_and(|data| data != "[DONE]") {
            (start, field) = (None, None);
        } else if let Some(value) = line.strip_prefix("error:") {
            field = Some(value.trim()).filter(|value| !value.is_empty());
        } else if start.is_none() && line.trim_start().starts_with(['{', '[']) {
            start = Some(place);
        }
        place += line.len();
    }
    if let Some(error) = field.map(error_of).filter(has_content) {
        return Some(error);
    }
    let json = Deserializer::from_str(text.get(start?..)?).into_iter::<Value>().next()?.ok()?;
    let json = json.get(0).unwrap_or(&json);
    json.get("error").filter(|error| !error.is_null()).cloned()
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
            "data: {}\n\n{\"error\": {\"code\": 503}}\n\ndata: [DONE]\n\n",
            "error: {\"code\": 503}\n\n",
            "\u{feff}error:{\"error\": {\"code\": 503}}",
            "data: {}\r\rerror: {\"code\": 503}\r\rdata: [DONE]\r\r",
        ] {
            assert_eq!(error_in(text), Some(json!({"code": 503})), "{text}");
        }
    }

    #[test]
    fn a_field_for_an_error_may_be_text() {
        assert_eq!(error_in("data: {}\n\nerror: it broke\n\n"), Some(json!("it broke")));
    }

    #[test]
    fn what_is_an_event_or_no_error_is_not_one() {
        for text in [
            "error:\n\n",
            "error: null\n\n",
            "error: {\"code\": 503}\n\ndata: {}\n\n",
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
            let tail = Tail::new();
            tail.push(&body[..cut]);
            tail.push(&body[cut..]);
            assert_eq!(tail.error(), Some(json!("data: ")), "{cut}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_body_is_kept() {
        let tail = Tail::new();
        for length in [100; 1000].into_iter().chain([3 * KEPT]) {
            tail.push(&vec![b' '; length]);
            assert!(tail.bytes().len() <= 2 * KEPT);
        }
        tail.push(b"\n{\"error\"");
        tail.push(b": 1}");
        assert_eq!(tail.error(), Some(json!(1)));
    }

    #[test]
    fn the_rest_of_a_long_line_is_not_an_error() {
        let tail = Tail::new();
        tail.push(format!("data: {}", "x".repeat(2 * KEPT)).as_bytes());
        let error = format!("{{\"error\": 1{}}}\n\n", " ".repeat(KEPT - 14));
        assert_eq!(error.len(), KEPT);
        tail.push(error.as_bytes());
        assert_eq!(tail.error(), None);
    }
}
