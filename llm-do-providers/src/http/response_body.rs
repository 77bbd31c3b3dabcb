//! The body of a streamed answer, as it arrives.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body as _;
use reqwest::{Body, Response};
use tokio::time::{Instant, Sleep, sleep};

use super::fault;
use crate::error::ProviderError;

/// The maximum size of a streamed answer, in bytes. Each token takes some hundred bytes.
const MOST: usize = 256 << 20;

/// The timeouts of a streamed answer.
pub(super) struct StreamLimits {
    /// For one chunk.
    idle: Duration,
    /// For the whole answer.
    total: Duration,
    /// The deadline of the whole answer; `None` if it overflows the clock.
    end: Option<Instant>,
}

impl StreamLimits {
    /// Starts the timeouts of an answer.
    pub(super) fn begin(idle: Duration, total: Duration) -> Self {
        Self { idle, total, end: Instant::now().checked_add(total) }
    }
}

/// The chunks of a body; a chunk that times out is an error.
pub(super) struct ResponseBody {
    provider: &'static str,
    origin: Arc<str>,
    status: u16,
    body: Body,
    /// The number of bytes received.
    size: usize,
    limits: StreamLimits,
    /// When the wait for the next chunk started, if one is pending.
    waiting: Option<Instant>,
    /// The timer for the next chunk. It is reset only when it fires, so it may be set for an earlier chunk.
    late: Pin<Box<Sleep>>,
    /// The waker that `late` wakes at its current deadline.
    woken_late: Option<Waker>,
}

impl ResponseBody {
    pub(super) fn new(provider: &'static str, origin: Arc<str>, limits: StreamLimits, answer: Response) -> Self {
        let (status, body) = (answer.status().as_u16(), answer.into());
        let late = Box::pin(sleep(limits.idle));
        Self { provider, origin, status, body, size: 0, limits, waiting: None, late, woken_late: None }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, ProviderError> {
        // The timer has not fired, so a chunk that was waited for arrived in time.
        if self.waiting.take().is_none()
            && let Some(error) = self.is_over()
        {
            return Err(error);
        }
        self.size += piece.len();
        if self.size > MOST { Err(fault::too_large(self.provider, self.status, MOST)) } else { Ok(piece) }
    }

    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<ProviderError> {
        let begun = *self.waiting.get_or_insert_with(Instant::now);
        // A timeout that overflows the clock is ignored.
        let Some(end) = [begun.checked_add(self.limits.idle), self.limits.end].into_iter().flatten().min() else {
            return Poll::Pending;
        };
        if self.late.deadline() > end {
            self.late.as_mut().reset(end);
        } else if self.will_wake(context.waker()) {
            return Poll::Pending;
        }
        while self.late.as_mut().poll(context).is_ready() {
            if self.late.deadline() >= end {
                return Poll::Ready(self.is_over().unwrap_or_else(|| self.late(self.limits.idle, "idle timeout")));
            }
            self.late.as_mut().reset(end);
        }
        self.woken_late = Some(context.waker().clone());
        Poll::Pending
    }

    /// Returns whether the timer will wake this waker, so that it does not have to be polled.
    fn will_wake(&self, waker: &Waker) -> bool {
        self.woken_late.as_ref().is_some_and(|woken| woken.will_wake(waker)) && !self.late.is_elapsed()
    }

    /// Returns the error for an answer that exceeded its total timeout.
    fn is_over(&self) -> Option<ProviderError> {
        let is_over = self.limits.end.is_some_and(|end| Instant::now() >= end);
        is_over.then(|| self.late(self.limits.total, "stream timeout"))
    }

    fn late(&self, limit: Duration, name: &str) -> ProviderError {
        fault::late(self.provider, &self.origin, limit, name, Some(self.status))
    }
}

impl Stream for ResponseBody {
    type Item = Result<Bytes, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                return self.poll_late(context).map(|error| Some(Err(error)));
            };
            match frame {
                // A frame without data is a trailer, which no provider sends.
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Some(self.take(piece)));
                    }
                }
                Some(Err(error)) => {
                    let error = fault::broken(self.provider, &self.origin, self.status, error);
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            }
        }
    }
}
