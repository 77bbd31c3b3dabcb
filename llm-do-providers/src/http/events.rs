//! Parses server-sent events from the pieces of a body.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::StreamExt;
use serde_json::Value;
use sse_stream::{Error, SseByteStream};

use super::response_meta::ResponseMeta;
use super::tail::Tail;
use crate::error::{ErrorKind, ProviderError};

/// The chunks of a body, with arbitrary boundaries.
pub(crate) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ProviderError>> + Send>>;

/// The server-sent events of an answer.
pub(crate) struct Events {
    provider: &'static str,
    head: ResponseMeta,
    blocks: SseByteStream<RecordedChunks>,
    tail: Tail,
    /// Whether the body ended within a character.
    is_cut_off: bool,
}

/// An event with data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type, if it has one.
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

/// The chunks of the body; the end of the body is kept.
struct RecordedChunks {
    chunks: Chunks,
    tail: Tail,
    state: ChunksState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunksState {
    /// Only white space has arrived.
    Start,
    Events,
    /// The body is JSON, which is kept and not parsed as events.
    Json,
    End,
}

impl Stream for RecordedChunks {
    type Item = Result<Bytes, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if self.state == ChunksState::End {
                return Poll::Ready(None);
            }
            match ready!(self.chunks.poll_next_unpin(context)) {
                Some(Ok(chunk)) => {
                    if self.state == ChunksState::Start {
                        self.state = begun(&chunk);
                    }
                    if self.state != ChunksState::Json {
                        self.tail.push(&chunk);
                        return Poll::Ready(Some(Ok(chunk)));
                    }
                    if !self.tail.keep(&chunk) {
                        self.state = ChunksState::Events;
                    }
                }
                // Some servers leave out the empty line after the last event.
                None if self.state == ChunksState::Events => {
                    self.state = ChunksState::End;
                    self.tail.end();
                    return Poll::Ready(Some(Ok(Bytes::from_static(b"\n\n"))));
                }
                end => return Poll::Ready(end),
            }
        }
    }
}

/// The type of a body by its first chunk: JSON does not start like a line of an event.
fn begun(chunk: &[u8]) -> ChunksState {
    let text = chunk.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(chunk).trim_ascii_start();
    match text.first() {
        None => ChunksState::Start,
        Some(b'{' | b'[') => ChunksState::Json,
        Some(_) => ChunksState::Events,
    }
}

impl Events {
    /// Returns the events in `chunks`.
    pub(crate) fn new(provider: &'static str, chunks: Chunks) -> Self {
        let tail = Tail::new();
        let kept = RecordedChunks { chunks, tail: tail.clone(), state: ChunksState::Start };
        Self { provider, head: ResponseMeta::default(), blocks: SseByteStream::new(kept), tail, is_cut_off: false }
    }

    /// Returns the events in `body`.
    pub(crate) fn from_body(provider: &'static str, body: Bytes) -> Self {
        Self::new(provider, Box::pin(futures_util::stream::iter([Ok(body)])))
    }

    /// Sets the response that the events belong to.
    pub(super) fn after(self, head: ResponseMeta) -> Self {
        Self { head, ..self }
    }

    /// Returns the response that the events belong to.
    pub(crate) fn head(&self) -> &ResponseMeta {
        &self.head
    }

    /// Returns the error after the last event that is not an event itself, if any.
    pub(crate) fn stray_error(&self) -> Option<Value> {
        self.tail.error()
    }

    /// Returns the body if it was JSON instead of events.
    pub(crate) fn json(&self) -> Option<Vec<u8>> {
        self.tail.json()
    }

    /// Returns the end of the body as text, for an error.
    pub(crate) fn text(&self) -> String {
        self.tail.text()
    }

    /// Returns whether the body ended, so that the last event may be cut off.
    pub(crate) fn has_ended(&self) -> bool {
        self.tail.has_ended()
    }

    /// Returns whether the body ended within a character, so that its last event was lost.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Waits for the next event that has data; `None` at the end of the body, even within a character.
    ///
    /// An event without data, or with empty data, is not dispatched. See
    /// <https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage>.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event>, ProviderError>> {
        while let Some(block) = ready!(self.blocks.poll_next_unpin(context)) {
            let block = match block {
                Ok(block) => block,
                // After the end, only the last line remains to be read.
                Err(Error::Utf8Parse(_)) if self.tail.has_ended() => {
                    self.is_cut_off = true;
                    break;
                }
                Err(error) => return Poll::Ready(Err(self.failure(error))),
            };
            if let Some(data) = block.data
                && !data.trim_ascii().is_empty()
            {
                return Poll::Ready(Ok(Some(Event { name: block.event, data })));
            }
        }
        Poll::Ready(Ok(None))
    }

    fn failure(&self, error: Error) -> ProviderError {
        let cause = match error {
            Error::Body(cause) => match cause.downcast::<ProviderError>() {
                Ok(error) => return *error,
                Err(cause) => cause,
            },
            other => other.into(),
        };
        let text = "the stream has no server-sent events; check the base URL";
        ProviderError::new(self.provider, ErrorKind::Protocol, text).with_status(200).with_source(cause)
    }
}
