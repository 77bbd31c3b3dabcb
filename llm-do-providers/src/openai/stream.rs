//! One exchange with the server: tries, the pieces of a streamed answer, and what may go wrong with them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use tokio::time::sleep;

use super::answer::Answer;
use super::wire::Chunk;
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Endpoint, Events, reported};
use crate::model::{Response, ResponseStream, StreamEvent};
use crate::retry::{Pause, Tries};

#[cfg(test)]
mod tests;

/// A request on its way.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) body: Bytes,
    /// The model asked, should the server not name it.
    pub(super) model: Arc<str>,
    /// The length of the history, for the ids of calls that the server gives none.
    pub(super) turn: usize,
    pub(super) tries: Tries,
}

impl Exchange {
    /// Waits for the whole answer.
    pub(super) async fn whole(mut self) -> Result<Response, ProviderError> {
        loop {
            match self.attempt().await {
                Ok(response) => return Ok(response),
                Err(error) => sleep(self.after(error)?.wait).await,
            }
        }
    }

    /// Returns the answer as it arrives; nothing is sent before the first poll.
    pub(super) fn stream(self) -> ResponseStream {
        let streaming = Streaming { exchange: self, state: State::Ask, ready: VecDeque::new(), shown: false };
        // Boxed, since it changes hands with every piece.
        Box::pin(stream::unfold(Box::new(streaming), Streaming::next))
    }

    async fn attempt(&self) -> Result<Response, ProviderError> {
        let body = self.endpoint.fetch(self.body.clone()).await?;
        let mut answer = Answer::default();
        answer.absorb(read(&self.endpoint, &body)?, &mut VecDeque::new());
        answer.complete(&self.model, self.turn).map_err(|why| odd(&self.endpoint, why))
    }

    fn after(&mut self, error: ProviderError) -> Result<Pause, ProviderError> {
        self.tries.after(error, fastrand::f64())
    }
}

/// A streamed answer and its tries.
struct Streaming {
    exchange: Exchange,
    state: State,
    ready: VecDeque<StreamEvent>,
    /// Whether a piece of the answer was handed out, so that it cannot be asked for anew.
    shown: bool,
}

enum State {
    Ask,
    Pause(Duration),
    Read(Box<Reading>),
    End,
}

impl Streaming {
    async fn next(mut self: Box<Self>) -> Option<(Result<StreamEvent, ProviderError>, Box<Self>)> {
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
                self.state = State::End;
                return Some((Err(error), self));
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match &mut self.state {
            State::Ask => {
                let events = self.exchange.endpoint.open(self.exchange.body.clone()).await?;
                self.state = State::Read(Box::new(Reading::new(&self.exchange, events)));
            }
            State::Pause(wait) => {
                sleep(*wait).await;
                self.state = State::Ask;
            }
            State::Read(reading) => {
                let goes_on = reading.step(&mut self.ready).await?;
                self.shown |= !self.ready.is_empty();
                if !goes_on {
                    self.state = State::End;
                }
            }
            State::End => {}
        }
        Ok(())
    }

    /// Goes on to the next try, unless the answer has begun or the failure lasts.
    fn recover(&mut self, error: ProviderError) -> Result<(), ProviderError> {
        if self.shown {
            return Err(error);
        }
        let pause = self.exchange.after(error)?;
        self.ready.push_back(StreamEvent::Waiting { on: pause.on });
        self.state = State::Pause(pause.wait);
        Ok(())
    }
}

/// The reading of one streamed answer.
struct Reading {
    endpoint: Arc<Endpoint>,
    model: Arc<str>,
    turn: usize,
    events: Events,
    answer: Answer,
}

impl Reading {
    fn new(exchange: &Exchange, events: Events) -> Self {
        let (endpoint, model) = (Arc::clone(&exchange.endpoint), Arc::clone(&exchange.model));
        Self { endpoint, model, turn: exchange.turn, events, answer: Answer::default() }
    }

    /// Reads one event, adds what it brought to `ready`, and returns whether more is to come.
    async fn step(&mut self, ready: &mut VecDeque<StreamEvent>) -> Result<bool, ProviderError> {
        match self.events.next().await {
            Ok(Some(data)) if data.trim() != "[DONE]" => {
                self.answer.absorb(read(&self.endpoint, data.as_bytes())?, ready);
                return Ok(true);
            }
            Ok(Some(_)) => {}
            // The answer is whole even if its end mark, or the figures after it, got lost.
            Ok(None) | Err(_) if self.answer.is_finished() => {}
            Ok(None) => return Err(odd(&self.endpoint, "the stream broke off")),
            Err(error) => return Err(error),
        }
        let response = std::mem::take(&mut self.answer).complete(&self.model, self.turn);
        ready.push_back(StreamEvent::Done(response.map_err(|why| odd(&self.endpoint, why))?));
        Ok(false)
    }
}

/// Reads an answer, or a piece of one, that may be an error in disguise.
fn read<'a>(endpoint: &Endpoint, json: &'a [u8]) -> Result<Chunk<'a>, ProviderError> {
    let chunk: Chunk<'_> = serde_json::from_slice(json).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        odd(endpoint, &format!("the answer is not the JSON of chat completions ({place})"))
    })?;
    if let Some(error) = &chunk.error {
        return Err(reported(endpoint.provider, endpoint.key_hint, error));
    }
    if chunk.object.as_ref().is_some_and(|object| object.as_str() == "error") {
        let error = serde_json::json!({ "code": chunk.code });
        return Err(reported(endpoint.provider, endpoint.key_hint, &error));
    }
    Ok(chunk)
}

/// The error for an answer of status 200 that breaks the protocol.
fn odd(endpoint: &Endpoint, what: &str) -> ProviderError {
    let text = format!("{what}; try again, and check that the server speaks chat completions");
    ProviderError::new(endpoint.provider, ErrorKind::Protocol, text).with_status(200)
}
