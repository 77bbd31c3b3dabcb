//! One exchange with a server: tries, the pieces of a streamed answer, and what may go wrong with them.

mod fault;
#[cfg(any(test, fuzzing))]
pub(crate) mod pieces;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::sleep;

pub(crate) use self::fault::{odd, reported, unread};
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Call, Endpoint, Events};
use crate::message::FinishReason;
use crate::model::{ResponseStream, StreamEvent};
use crate::response::Response;
use crate::retry::{Pause, Tries};
use crate::settings::Settings;

/// An answer as it grows, by the protocol of one provider.
pub(crate) trait Growing: Send + 'static {
    /// Takes in a whole answer.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with it, or the error that it is.
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError>;

    /// Takes in the data of one event of a stream, adds what it brought to `ready`, and returns whether more is to come.
    ///
    /// # Errors
    ///
    /// The same.
    fn absorb(
        &mut self,
        server: &Endpoint,
        data: &str,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<bool, ProviderError>;

    /// Whether the server has said why the model stopped: what is missing after that is no part of the answer.
    fn is_finished(&self) -> bool;

    /// Returns what is wrong with the answer as it is at its end, if anything.
    fn fault(&self) -> Option<&'static str>;

    /// Returns the whole answer, which has no fault.
    fn complete(self) -> Response;

    /// Returns what came of an answer that broke off: no call whose arguments may not all be there.
    fn arrived(self) -> Response;

    /// Whether the server paused, and goes on once the answer so far is sent back to it. Default: it never does.
    fn is_paused(&self) -> bool {
        false
    }

    /// Returns the body that has the server go on after `paused`, which answered the body `sent`; none if there is no such
    /// body, so that the answer ends there. Default: none.
    fn go_on(_sent: &[u8], _paused: &Response) -> Option<Vec<u8>> {
        None
    }

    /// Puts right what was said before a pause by what came after it. Default: nothing.
    fn rejoin(_answer: &mut Response) {}
}

/// How often an answer may pause before it is taken as cut off.
const MOST_PAUSES: usize = 10;
/// How long most requests are at least, in bytes, so that a body does not grow from nothing.
const BODY: usize = 4 << 10;

/// A request on its way; `begin` returns the answer before anything came.
pub(crate) struct Exchange<F> {
    endpoint: Arc<Endpoint>,
    call: Call,
    retries: u32,
    tries: Tries,
    begin: F,
    /// What was answered before the last pause.
    before: Option<Response>,
    pauses: usize,
}

impl<F, G> Exchange<F>
where
    F: Fn() -> G + Send + 'static,
    G: Growing,
{
    /// Writes a request, with the fields and headers that its settings add; failures are tried again `retries` times.
    ///
    /// # Errors
    ///
    /// Returns an error if that cannot be written.
    pub(crate) fn new(
        endpoint: &Arc<Endpoint>,
        request: &impl Serialize,
        settings: &Settings,
        retries: u32,
        begin: F,
    ) -> Result<Self, ProviderError> {
        let body = body(request, &settings.extra_body).map_err(|error| {
            let text = "the request cannot be written as JSON; check its settings for numbers that are none";
            ProviderError::new(endpoint.provider, ErrorKind::InvalidRequest, text).with_source(error)
        })?;
        let call = Call::new(endpoint.provider, body.into(), settings)?;
        let (endpoint, tries) = (Arc::clone(endpoint), Tries::new(retries));
        Ok(Self { endpoint, call, retries, tries, begin, before: None, pauses: 0 })
    }

    /// Returns the body to be sent, and the answer before anything came.
    #[cfg(fuzzing)]
    pub(crate) fn begun(&self) -> (&[u8], G) {
        (self.call.body(), (self.begin)())
    }

    /// Waits for the whole answer.
    pub(crate) async fn whole(mut self) -> Result<Response, ProviderError> {
        loop {
            match self.attempt().await {
                Ok(answer) => {
                    if let Some(response) = self.ended(answer) {
                        return Ok(response);
                    }
                }
                Err(error) => match self.after(error) {
                    Ok(pause) => sleep(pause.wait).await,
                    Err(error) => return Err(self.broken_off(error, None)),
                },
            }
        }
    }

    /// Returns the answer as it arrives; nothing is sent before the first poll.
    pub(crate) fn stream(self) -> ResponseStream {
        let streaming = Streaming { exchange: self, state: State::Ask, ready: VecDeque::new(), shown: false };
        // Boxed, since it changes hands with every piece.
        Box::pin(stream::unfold(Box::new(streaming), Streaming::next))
    }

    async fn attempt(&self) -> Result<G, ProviderError> {
        let body = self.endpoint.fetch(&self.call).await?;
        let mut answer = (self.begin)();
        answer.absorb_whole(&self.endpoint, &body)?;
        match answer.fault() {
            Some(fault) => Err(odd(&self.endpoint, fault)),
            None => Ok(answer),
        }
    }

    /// Takes an answer that has ended without a fault: returns the whole, or none if the server goes on, which is set up.
    fn ended(&mut self, answer: G) -> Option<Response> {
        let is_paused = answer.is_paused();
        let part = answer.complete();
        let more = if is_paused { G::go_on(self.call.body(), &part) } else { None };
        let mut response = match self.before.take() {
            Some(before) => before.followed_by(part),
            None => part,
        };
        G::rejoin(&mut response);
        let Some(body) = more else { return Some(response) };
        self.pauses += 1;
        if self.pauses > MOST_PAUSES {
            return Some(response.with_finish(FinishReason::Length));
        }
        self.call.set_body(body.into());
        self.tries = Tries::new(self.retries);
        self.before = Some(response);
        None
    }

    /// Adds to an error what had arrived, before the last pause and after it.
    fn broken_off(&mut self, error: ProviderError, arrived: Option<Response>) -> ProviderError {
        let arrived = match (self.before.take(), arrived) {
            (Some(before), Some(more)) => Some(before.followed_by(more)),
            (before, more) => before.or(more),
        };
        match arrived {
            Some(arrived) => error.with_arrived(arrived),
            None => error,
        }
    }

    fn after(&mut self, error: ProviderError) -> Result<Pause, ProviderError> {
        self.tries.after(error, fastrand::f64())
    }
}

fn body(request: &impl Serialize, extra: &Map<String, Value>) -> serde_json::Result<Vec<u8>> {
    if extra.is_empty() {
        let mut body = Vec::with_capacity(BODY);
        serde_json::to_writer(&mut body, request)?;
        return Ok(body);
    }
    let mut body = serde_json::to_value(request)?;
    if let Value::Object(fields) = &mut body {
        fields.extend(extra.clone());
    }
    serde_json::to_vec(&body)
}

/// A streamed answer and its tries.
struct Streaming<F, G> {
    exchange: Exchange<F>,
    state: State<G>,
    ready: VecDeque<StreamEvent>,
    /// Whether a piece of the answer was handed out, so that it cannot be asked for anew.
    shown: bool,
}

enum State<G> {
    Ask,
    Pause(Duration),
    Read(Box<Reading<G>>),
    End,
}

impl<F, G> Streaming<F, G>
where
    F: Fn() -> G + Send + 'static,
    G: Growing,
{
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
                return Some((Err(error), self));
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match &mut self.state {
            State::Ask => {
                let events = self.exchange.endpoint.open(&self.exchange.call).await?;
                let (endpoint, answer) = (Arc::clone(&self.exchange.endpoint), Some((self.exchange.begin)()));
                self.state = State::Read(Box::new(Reading { endpoint, events, answer, has_begun: false }));
            }
            State::Pause(wait) => {
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

    /// Ends the stream with the whole answer, unless the server paused: then nothing more was shown that a next try of what
    /// follows would repeat.
    fn end(&mut self, answer: Option<G>) {
        self.state = State::End;
        match answer.map(|answer| self.exchange.ended(answer)) {
            Some(Some(response)) => self.ready.push_back(StreamEvent::Done(response)),
            Some(None) => (self.state, self.shown) = (State::Ask, false),
            None => {}
        }
    }

    /// Goes on to the next try, unless the answer has begun or the failure lasts; then the error has what arrived.
    fn recover(&mut self, error: ProviderError) -> Result<(), ProviderError> {
        let state = std::mem::replace(&mut self.state, State::End);
        if self.shown {
            let arrived = match state {
                State::Read(reading) => reading.answer.map(Growing::arrived),
                _ => None,
            };
            return Err(self.exchange.broken_off(error, arrived));
        }
        let pause = match self.exchange.after(error) {
            Ok(pause) => pause,
            Err(error) => return Err(self.exchange.broken_off(error, None)),
        };
        self.ready.push_back(StreamEvent::Waiting { on: pause.on });
        self.state = State::Pause(pause.wait);
        Ok(())
    }
}

/// The reading of one streamed answer, or of what follows a pause of it.
struct Reading<G> {
    endpoint: Arc<Endpoint>,
    events: Events,
    /// None once it is taken, at its end.
    answer: Option<G>,
    /// Whether an event came.
    has_begun: bool,
}

impl<G: Growing> Reading<G> {
    /// Reads one event, adds what it brought to `ready`, and returns whether more is to come; if not, the answer is whole.
    async fn step(&mut self, ready: &mut VecDeque<StreamEvent>) -> Result<bool, ProviderError> {
        let Some(answer) = &mut self.answer else { return Ok(false) };
        match self.events.next().await {
            Ok(Some(data)) => {
                self.has_begun = true;
                if answer.absorb(&self.endpoint, &data, ready)? {
                    return Ok(true);
                }
            }
            // The answer is whole even if its end mark, or the figures after it, got lost.
            Ok(None) | Err(_) if answer.is_finished() => {}
            Ok(None) => {
                let reported = self.events.stray_error().map(|error| reported(&self.endpoint, &error));
                // A server that gave up in order; one that said nothing at all may speak something else.
                let broken = || odd(&self.endpoint, "the stream broke off").with_should_retry(self.has_begun);
                return Err(reported.unwrap_or_else(broken));
            }
            Err(error) => return Err(error),
        }
        if let Some(fault) = answer.fault() {
            return Err(odd(&self.endpoint, fault));
        }
        Ok(false)
    }
}
