//! A streamed answer: its attempts and its events.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::future::BoxFuture;
use tokio::time::{Sleep, sleep};

use super::{Exchange, ResponseAccumulator, protocol_error, reported};
use crate::error::ProviderError;
use crate::http::{Endpoint, Events};
use crate::model::StreamEvent;

/// A streamed answer and its attempts; nothing is sent before the first poll.
///
/// It is polled as it is, since a future for each of thousands of events would cost more than the event.
pub(super) struct Streaming<F, G> {
    exchange: Exchange<F>,
    state: State<G>,
    ready: VecDeque<StreamEvent>,
    /// Whether a piece of the answer was handed out, so that the request cannot be retried.
    shown: bool,
}

enum State<G> {
    Ask,
    Opening(BoxFuture<'static, Result<Events, ProviderError>>),
    RetryDelay(Pin<Box<Sleep>>),
    Read(Box<Reading<G>>),
    End,
}

impl<F, G> Streaming<F, G>
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
{
    pub(super) fn new(exchange: Exchange<F>) -> Self {
        Self { exchange, state: State::Ask, ready: VecDeque::new(), shown: false }
    }

    fn poll_advance(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        match &mut self.state {
            State::Ask => {
                let (endpoint, call) = (Arc::clone(&self.exchange.endpoint), Arc::clone(&self.exchange.call));
                self.state = State::Opening(Box::pin(async move { endpoint.open(&call).await }));
            }
            State::Opening(opening) => {
                let events = ready!(opening.as_mut().poll(context))?;
                let (endpoint, answer) = (Arc::clone(&self.exchange.endpoint), (self.exchange.begin)());
                self.state = State::Read(Box::new(Reading::new(endpoint, events, answer)));
            }
            State::RetryDelay(wait) => {
                ready!(wait.as_mut().poll(context));
                self.state = State::Ask;
            }
            State::Read(reading) => {
                let stepped = ready!(reading.poll_step(context, &mut self.ready));
                self.shown |= !self.ready.is_empty();
                if !stepped? {
                    let answer = reading.answer.take();
                    self.end(answer);
                }
            }
            State::End => {}
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the stream with the whole answer, unless the server paused: then nothing was shown yet that a retry of the rest
    /// would repeat.
    fn end(&mut self, answer: Option<G>) {
        self.state = State::End;
        match answer.map(|answer| self.exchange.finish_or_continue(answer)) {
            Some(Some(response)) => self.ready.push_back(StreamEvent::Done(response)),
            Some(None) => (self.state, self.shown) = (State::Ask, false),
            None => {}
        }
    }

    /// Prepares the next attempt, unless the answer has begun or the failure is permanent; then the error has what arrived.
    fn recover(&mut self, mut error: ProviderError) -> Result<(), ProviderError> {
        let state = std::mem::replace(&mut self.state, State::End);
        let arrived = match state {
            State::Read(reading) => reading.answer.map(ResponseAccumulator::partial_response),
            _ => None,
        };
        if self.shown {
            return Err(self.exchange.broken_off(error, arrived));
        }
        if let Some(arrived) = arrived {
            error = error.with_partial_response(arrived);
        }
        let pause = self.exchange.after(error)?;
        self.ready.push_back(StreamEvent::Waiting { on: pause.on });
        self.state = State::RetryDelay(Box::pin(sleep(pause.wait)));
        Ok(())
    }
}

impl<F, G> Stream for Streaming<F, G>
where
    F: Fn() -> G + Send + Unpin + 'static,
    G: ResponseAccumulator,
{
    type Item = Result<StreamEvent, ProviderError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if matches!(this.state, State::End) {
                return Poll::Ready(None);
            }
            if let Err(error) = ready!(this.poll_advance(context))
                && let Err(error) = this.recover(error)
            {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

/// One response of a streamed answer, which may have several with pauses between.
pub(super) struct Reading<G> {
    endpoint: Arc<Endpoint>,
    events: Events,
    /// `None` after its end.
    pub(super) answer: Option<G>,
    /// Whether an event arrived.
    has_begun: bool,
}

impl<G: ResponseAccumulator> Reading<G> {
    pub(super) fn new(endpoint: Arc<Endpoint>, events: Events, answer: G) -> Self {
        Self { endpoint, events, answer: Some(answer), has_begun: false }
    }

    /// Reads one event, adds its events to `ready`, and returns whether more may follow; if not, the answer is complete.
    pub(super) fn poll_step(
        &mut self,
        context: &mut Context<'_>,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Poll<Result<bool, ProviderError>> {
        let next = ready!(self.events.poll_next(context));
        Poll::Ready(self.take(next, ready).map_err(|error| self.events.head().add_to(error)))
    }

    fn take(
        &mut self,
        next: Result<Option<String>, ProviderError>,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<bool, ProviderError> {
        let Some(answer) = &mut self.answer else { return Ok(false) };
        match next {
            Ok(Some(data)) => {
                self.has_begun = true;
                if answer.absorb(&self.endpoint, &data, ready)? {
                    return Ok(true);
                }
            }
            // The answer is complete even if its end mark, or the usage after it, is missing.
            Ok(None) | Err(_) if answer.is_finished() => {}
            Ok(None) => {
                let reported = self.events.stray_error().map(|error| reported(&self.endpoint, &error));
                // A stream that ends without an event may come from a server of another protocol, so it is not retried.
                let broken =
                    || protocol_error(&self.endpoint, "the stream broke off").with_should_retry(self.has_begun);
                return Err(reported.unwrap_or_else(broken));
            }
            Err(error) => return Err(error),
        }
        if let Some(fault) = answer.fault() {
            return Err(protocol_error(&self.endpoint, fault));
        }
        Ok(false)
    }
}
