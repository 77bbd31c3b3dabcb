//! A streamed answer: its attempts and its events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Exchange, ResponseAccumulator, protocol_error, reported};
use crate::error::ProviderError;
use crate::http::{Endpoint, Events};
use crate::model::StreamEvent;

/// A streamed answer and its attempts.
pub(super) struct Streaming<F, G> {
    exchange: Exchange<F>,
    state: State<G>,
    ready: VecDeque<StreamEvent>,
    /// Whether a piece of the answer was handed out, so that the request cannot be retried.
    shown: bool,
}

enum State<G> {
    Ask,
    RetryDelay(Duration),
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

    pub(super) async fn next(mut self: Box<Self>) -> Option<(Result<StreamEvent, ProviderError>, Box<Self>)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((Ok(event), self));
            }
            if matches!(self.state, State::End) {
                return None;
            }
            if let Err(error) = self.advance().await
                && let Err(error) = self.recover(error)
            {
                return Some((Err(error), self));
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match &mut self.state {
            State::Ask => {
                let events = self.exchange.endpoint.open(&self.exchange.call).await?;
                let (endpoint, answer) = (Arc::clone(&self.exchange.endpoint), (self.exchange.begin)());
                self.state = State::Read(Box::new(Reading::new(endpoint, events, answer)));
            }
            State::RetryDelay(wait) => {
                sleep(*wait).await;
                self.state = State::Ask;
            }
            State::Read(reading) => {
                let stepped = reading.step(&mut self.ready).await;
                self.shown |= !self.ready.is_empty();
                if !stepped? {
                    let answer = reading.answer.take();
                    self.end(answer);
                }
            }
            State::End => {}
        }
        Ok(())
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
        self.state = State::RetryDelay(pause.wait);
        Ok(())
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
    pub(super) async fn step(&mut self, ready: &mut VecDeque<StreamEvent>) -> Result<bool, ProviderError> {
        self.read(ready).await.map_err(|error| self.events.head().add_to(error))
    }

    async fn read(&mut self, ready: &mut VecDeque<StreamEvent>) -> Result<bool, ProviderError> {
        let Some(answer) = &mut self.answer else { return Ok(false) };
        match self.events.next().await {
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
