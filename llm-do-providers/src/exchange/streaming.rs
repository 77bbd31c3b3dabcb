//! A streamed answer: its attempts and its events.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_util::future::BoxFuture;
use tokio::task::coop::poll_proceed;
use tokio::time::{Sleep, sleep};

use super::reading::Reading;
use super::{Exchange, ResponseAccumulator};
use crate::error::ProviderError;
use crate::http::Events;
use crate::message::ResponsePart;
use crate::model::StreamEvent;
use crate::response::Response;

/// A streamed answer and its attempts; nothing is sent before the first poll.
pub(super) struct Streaming<F, G> {
    exchange: Exchange<F>,
    state: StreamState<G>,
    ready: VecDeque<StreamEvent>,
    /// The error that ends the stream, after the events that are ready.
    failure: Option<ProviderError>,
    /// Whether an event of the answer has reached the caller, so that the request cannot be retried.
    shown: bool,
}

enum StreamState<G> {
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
        Self { exchange, state: StreamState::Ask, ready: VecDeque::new(), failure: None, shown: false }
    }

    fn poll_advance(&mut self, context: &mut Context<'_>) -> Poll<Result<(), ProviderError>> {
        match &mut self.state {
            StreamState::Ask => {
                let (endpoint, call) = (Arc::clone(&self.exchange.endpoint), Arc::clone(&self.exchange.call));
                self.state = StreamState::Opening(Box::pin(async move { endpoint.open(&call).await }));
            }
            StreamState::Opening(opening) => {
                let events = ready!(opening.as_mut().poll(context))?;
                let (endpoint, answer) = (Arc::clone(&self.exchange.endpoint), (self.exchange.begin)());
                self.state = StreamState::Read(Box::new(Reading::new(endpoint, events, answer)));
            }
            StreamState::RetryDelay(wait) => {
                ready!(wait.as_mut().poll(context));
                self.state = StreamState::Ask;
            }
            StreamState::Read(reading) => {
                let stepped = ready!(reading.poll_step(context, &mut self.ready));
                self.shown |= !self.ready.is_empty();
                if !stepped? {
                    let (answer, is_whole) = (reading.answer.take(), reading.is_whole);
                    self.end(answer, is_whole);
                }
            }
            StreamState::End => {}
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the stream with the complete answer. If the server paused, the stream continues, and a failure before the
    /// next event can be retried.
    fn end(&mut self, answer: Option<G>, is_whole: bool) {
        self.state = StreamState::End;
        match answer.map(|answer| self.exchange.finish_or_continue(answer)) {
            Some(Some(response)) => {
                if is_whole {
                    self.ready.extend(shown(&response));
                }
                self.ready.push_back(StreamEvent::Done(response));
            }
            Some(None) => (self.state, self.shown) = (StreamState::Ask, false),
            None => {}
        }
    }

    /// Prepares the next attempt. If an event has reached the caller, or the failure is permanent, returns the error
    /// with the partial answer.
    fn recover(&mut self, mut error: ProviderError) -> Result<(), ProviderError> {
        let state = std::mem::replace(&mut self.state, StreamState::End);
        let arrived = match state {
            StreamState::Read(reading) => reading.answer.map(ResponseAccumulator::partial_response),
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
        self.state = StreamState::RetryDelay(Box::pin(sleep(pause.wait)));
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
        // A long answer that has arrived must not block other tasks and the timeout.
        let turn = ready!(poll_proceed(context));
        loop {
            if let Some(event) = this.ready.pop_front() {
                turn.made_progress();
                return Poll::Ready(Some(Ok(event)));
            }
            if let Some(error) = this.failure.take() {
                return Poll::Ready(Some(Err(error)));
            }
            if matches!(this.state, StreamState::End) {
                return Poll::Ready(None);
            }
            if let Err(error) = ready!(this.poll_advance(context))
                && let Err(error) = this.recover(error)
            {
                this.failure = Some(error);
            }
        }
    }
}

/// Returns the events of an answer that arrived as a whole.
pub(super) fn shown(response: &Response) -> impl Iterator<Item = StreamEvent> {
    let mut calls = 0..;
    response.parts.iter().filter_map(move |part| match part {
        ResponsePart::Text { text } => Some(StreamEvent::Text(text.clone())),
        ResponsePart::Thinking(thought) if !thought.text.is_empty() => {
            Some(StreamEvent::Thinking(thought.text.clone()))
        }
        ResponsePart::ToolCall(call) => Some(StreamEvent::ToolCall {
            index: calls.next()?,
            name: call.name.as_str().into(),
            arguments: call.arguments.clone(),
        }),
        _ => None,
    })
}
