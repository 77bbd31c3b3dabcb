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

/// The longest streamed answer, in bytes: each token costs some hundred bytes there.
const MOST: usize = 256 << 20;

/// The timeouts of a streamed answer.
pub(super) struct StreamLimits {
    /// For one piece.
    idle: Duration,
    /// For all.
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

/// The pieces of a body; a piece that times out is an error.
pub(super) struct ResponseBody {
    provider: &'static str,
    origin: Arc<str>,
    status: u16,
    body: Body,
    /// The number of bytes received.
    size: usize,
    limits: StreamLimits,
    /// The start of the wait for the next piece, if there is one.
    waiting: Option<Instant>,
    /// The end of the wait for a piece. It is not reset for each one, since to set a timer costs more than to read a piece.
    late: Pin<Box<Sleep>>,
    /// What `late` wakes at its current deadline.
    woken_late: Option<Waker>,
}

impl ResponseBody {
    pub(super) fn new(provider: &'static str, origin: Arc<str>, limits: StreamLimits, answer: Response) -> Self {
        let (status, body) = (answer.status().as_u16(), answer.into());
        let late = Box::pin(sleep(limits.idle));
        Self { provider, origin, status, body, size: 0, limits, waiting: None, late, woken_late: None }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, ProviderError> {
        // A piece that was waited for did not take longer than the timer; the clock is read for others only.
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
        // A limit that overflows the clock is ignored.
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

    /// Returns whether the timer will wake this waker, so that it need not be polled.
    fn will_wake(&self, waker: &Waker) -> bool {
        self.woken_late.as_ref().is_some_and(|woken| woken.will_wake(waker)) && !self.late.is_elapsed()
    }

    /// Returns the error of an answer that took too long as a whole.
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
