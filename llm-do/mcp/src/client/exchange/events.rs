//! Streams of events with messages, parsed leniently. If a stream ends without the answer, an error becomes the answer.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::stream::{self, Fuse, StreamExt};
use reqwest::Response;
use rmcp_sse::{Sse, SseStream};
use serde_json::Value;

use super::{Pending, Stream, is_answer, is_of_other};
use crate::client::message::{self, Asked};
use crate::client::text;

/// Events whose data are messages of the protocol.
pub(super) struct Events {
    /// Fused, since an error may replace the end of the stream, after which it is polled again.
    inner: Fuse<Stream>,
    /// The request that the stream answers.
    pending: Option<Pending>,
    /// The further messages of an event.
    ready: VecDeque<Sse>,
    /// The error that an answer was for another request, if one was.
    foreign: Option<Value>,
    /// Whether the client can request the rest of a stream that breaks.
    is_resumable: bool,
}

impl Events {
    pub(super) fn new(inner: Stream, pending: Option<Pending>) -> Self {
        Self { inner: inner.fuse(), pending, ready: VecDeque::new(), foreign: None, is_resumable: false }
    }

    /// Stores the messages of an event, each as a separate event.
    fn keep(&mut self, mut event: Sse) {
        self.is_resumable |= event.id.is_some();
        let data = event.data.take().unwrap_or_default();
        let messages = match &self.pending {
            Some(pending) => pending.read(data.as_bytes()),
            None => message::read(data.as_bytes(), |_| Asked::Other),
        };
        let messages = self.own(messages);
        let Some(first) = messages.first() else { return self.ready.push_back(event) };
        // Some servers give names of their own to events.
        event.event = None;
        event.data = Some(first.to_string());
        self.ready.push_back(event);
        self.ready.extend(messages[1..].iter().map(of_message));
    }

    /// Returns the messages without answers to other requests: the stream may still have the own one.
    fn own(&mut self, messages: Vec<Value>) -> Vec<Value> {
        if self.pending.is_none() {
            return messages;
        }
        let (other, own): (Vec<_>, Vec<_>) = messages.into_iter().partition(is_of_other);
        self.foreign = other.into_iter().next().or(self.foreign.take());
        if own.iter().any(is_answer) {
            self.pending = None;
        }
        own
    }

    /// Returns the end of a stream as the answer, if there was none and the rest cannot be asked for.
    fn end(&mut self, reason: &str) -> Option<Sse> {
        let pending = self.pending.take().filter(|_| !self.is_resumable)?;
        Some(of_message(&self.foreign.take().unwrap_or_else(|| pending.failed(reason))))
    }
}

fn of_message(message: &Value) -> Sse {
    Sse::default().data(message.to_string())
}

impl stream::Stream for Events {
    type Item = Result<Sse, rmcp::transport::streamable_http_client::SseError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            let (reason, item) = match ready!(self.inner.poll_next_unpin(cx)) {
                Some(Ok(event)) => {
                    self.keep(event);
                    continue;
                }
                Some(Err(error)) => (format!("the stream broke off: {}", text::root(&error)), Some(Err(error))),
                None => ("the stream ended without an answer".to_owned(), None),
            };
            return Poll::Ready(self.end(&reason).map(Ok).or(item));
        }
    }
}

/// Why the body of a response is not read on.
#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error("{0}")]
    Http(String),
    #[error("an event has more than {0} bytes; raise `max_message` of the server")]
    TooLarge(usize),
}

/// Returns the events of a body, each of at most some bytes.
pub(super) fn of_body(response: Response, most: usize) -> Stream {
    let pieces = stream::unfold(Some((response, Pieces::default())), move |state| async move {
        let (mut response, mut pieces) = state?;
        match response.chunk().await {
            Ok(Some(chunk)) => match pieces.take(&chunk, most) {
                Some(piece) => Some((Ok(piece), Some((response, pieces)))),
                None => Some((Err(BodyError::TooLarge(most)), None)),
            },
            Ok(None) => Some((Ok(Bytes::from(pieces.rest())), None)),
            Err(error) => Some((Err(BodyError::Http(text::root(&error))), None)),
        }
    });
    SseStream::from_bytes_stream(pieces.fuse().boxed()).boxed()
}

/// The pieces of a body that end with a line: only they can be read as text.
#[derive(Default)]
struct Pieces {
    line: Vec<u8>,
    /// The bytes of the current event before the current line.
    event: usize,
}

impl Pieces {
    /// Returns the lines that a chunk ends; `None` if an event is too large.
    fn take(&mut self, chunk: &[u8], most: usize) -> Option<Bytes> {
        self.line.extend_from_slice(chunk);
        let end = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in self.line[..end].split_inclusive(|byte| *byte == b'\n') {
            self.event = if matches!(line, b"\n" | b"\r\n") { 0 } else { self.event + line.len() };
            if self.event > most {
                return None;
            }
        }
        let rest = self.line.split_off(end);
        let lines = std::mem::replace(&mut self.line, rest);
        (self.event + self.line.len() <= most).then(|| readable(lines))
    }

    /// Returns the last line, and ends its event.
    fn rest(self) -> Vec<u8> {
        let mut rest = readable(self.line).to_vec();
        rest.extend_from_slice(b"\n\n");
        rest
    }
}

/// Replaces invalid UTF-8 by replacement characters.
fn readable(bytes: Vec<u8>) -> Bytes {
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_limited_also_in_pieces() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.take(b"data: 1234\nda", 20).unwrap(), "data: 1234\n");
        assert_eq!(pieces.take(b"ta: 12\n", 20).unwrap(), "data: 12\n");
        assert!(pieces.take(b"data: 1\n", 20).is_none(), "of one event");
        let mut pieces = Pieces::default();
        for _ in 0..3 {
            assert!(pieces.take(b"data: 12345678\n\n", 20).is_some(), "an event ends with an empty line");
        }
        assert!(pieces.take(&[b'x'; 21], 20).is_none(), "of one line");
    }

    #[test]
    fn what_is_not_text_is_replaced_and_characters_stay_whole() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.take(b"data: \xc3", 100).unwrap(), "");
        assert_eq!(pieces.take(b"\xa9\xff\n", 100).unwrap(), "data: \u{e9}\u{fffd}\n");
    }
}
