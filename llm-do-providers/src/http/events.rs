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

/// The pieces of a body, with arbitrary boundaries.
pub(crate) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ProviderError>> + Send>>;

/// The server-sent events of an answer.
pub(crate) struct Events {
    provider: &'static str,
    head: ResponseMeta,
    blocks: SseByteStream<RecordedChunks>,
    tail: Tail,
}

/// The pieces, whose end is kept.
struct RecordedChunks {
    chunks: Chunks,
    tail: Tail,
}

impl Stream for RecordedChunks {
    type Item = Result<Bytes, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.chunks.poll_next_unpin(context);
        if let Poll::Ready(Some(Ok(chunk))) = &next {
            self.tail.push(chunk);
        }
        next
    }
}

impl Events {
    /// Returns the events in `chunks`.
    pub(crate) fn new(provider: &'static str, chunks: Chunks) -> Self {
        let tail = Tail::new();
        let kept = RecordedChunks { chunks, tail: tail.clone() };
        Self { provider, head: ResponseMeta::default(), blocks: SseByteStream::new(kept), tail }
    }

    /// Sets the response that the events belong to.
    pub(super) fn after(self, head: ResponseMeta) -> Self {
        Self { head, ..self }
    }

    /// Returns the response that the events belong to.
    pub(crate) fn head(&self) -> &ResponseMeta {
        &self.head
    }

    /// Returns the error object after the last event that is not itself an event, if any.
    pub(crate) fn stray_error(&self) -> Option<Value> {
        self.tail.error()
    }

    /// Waits for the data of the next event that has any; `None` at the regular end of the body.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<String>, ProviderError>> {
        while let Some(block) = ready!(self.blocks.poll_next_unpin(context)) {
            if let Some(data) = block.map_err(|error| self.failure(error))?.data {
                return Poll::Ready(Ok(Some(data)));
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
