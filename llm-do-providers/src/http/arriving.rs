//! The body of a streamed answer, as it arrives.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
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

/// The pieces of a body; one that does not come in time is an error.
pub(super) struct Arriving {
    provider: &'static str,
    origin: String,
    status: u16,
    body: Body,
    /// How many bytes came.
    size: usize,
    idle: Duration,
    /// Ends when the next piece is late, once that is waited for: most pieces are there already, and need no clock.
    late: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl Arriving {
    pub(super) fn new(provider: &'static str, origin: String, idle: Duration, answer: Response) -> Self {
        let (status, body) = (answer.status().as_u16(), answer.into());
        Self { provider, origin, status, body, size: 0, idle, late: Box::pin(sleep(idle)), is_waiting: false }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, ProviderError> {
        self.is_waiting = false;
        self.size += piece.len();
        if self.size > MOST { Err(fault::too_large(self.provider, self.status, MOST)) } else { Ok(piece) }
    }

    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<ProviderError> {
        if !self.is_waiting {
            self.late.as_mut().reset(Instant::now() + self.idle);
            self.is_waiting = true;
        }
        ready!(self.late.as_mut().poll(context));
        Poll::Ready(fault::late(self.provider, &self.origin, self.idle, "idle timeout", Some(self.status)))
    }
}

impl Stream for Arriving {
    type Item = Result<Bytes, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                return self.poll_late(context).map(|error| Some(Err(error)));
            };
            match frame {
                // What is no data is a trailer, which no provider sends.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => return Poll::Ready(Some(self.take(piece))),
                    Err(_) => {}
                },
                Some(Err(error)) => {
                    let error = fault::broken(self.provider, &self.origin, self.status, error);
                    return Poll::Ready(Some(Err(error)));
                }
                None => return Poll::Ready(None),
            }
        }
    }
}
