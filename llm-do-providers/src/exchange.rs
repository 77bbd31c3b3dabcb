//! One exchange with a server: tries, the pieces of a streamed answer, and what may go wrong with them.

mod fault;
#[cfg(any(test, fuzzing))]
pub(crate) mod pieces;
mod streaming;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use futures_util::stream;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::sleep;

#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::fault::malformed;
pub(crate) use self::fault::{odd, reported, unread};
use self::streaming::Streaming;
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Call, Endpoint, WholeResponse};
use crate::message::FinishReason;
use crate::model::{ResponseStream, StreamEvent};
use crate::response::{Response, SettingWarning};
use crate::retry::{RetryDelay, RetryState};
use crate::settings::{Settings, Warnings};

/// An answer as it grows, by the protocol of one provider.
pub(crate) trait ResponseAccumulator: Send + 'static {
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
    tries: RetryState,
    begin: F,
    /// What was answered before the last pause, and what tries used that failed since.
    before: Option<Response>,
    pauses: usize,
    /// What the answer says of settings that were not sent as they were set.
    warnings: Vec<SettingWarning>,
}

impl<F, G> Exchange<F>
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
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
            let text = "the request cannot be written as JSON; check its settings for NaN and infinite numbers";
            ProviderError::new(endpoint.provider, ErrorKind::InvalidRequest, text).with_source(error)
        })?;
        let call = Call::new(endpoint.provider, body.into(), settings)?;
        let (endpoint, tries) = (Arc::clone(endpoint), RetryState::new(retries));
        Ok(Self { endpoint, call, retries, tries, begin, before: None, pauses: 0, warnings: Vec::new() })
    }

    /// Has the answer carry `warnings`.
    pub(crate) fn with_warnings(self, warnings: Warnings) -> Self {
        Self { warnings: warnings.into_list(), ..self }
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
                Err(error) => sleep(self.after(error)?.wait).await,
            }
        }
    }

    /// Returns the answer as it arrives; nothing is sent before the first poll.
    pub(crate) fn stream(self) -> ResponseStream {
        // Boxed, since it changes hands with every piece.
        Box::pin(stream::unfold(Box::new(Streaming::new(self)), Streaming::next))
    }

    /// Asks once; the error of an answer that is none has what could be read of it.
    async fn attempt(&self) -> Result<G, ProviderError> {
        let WholeResponse { head, body } = self.endpoint.fetch(&self.call).await?;
        let mut answer = (self.begin)();
        let read = answer.absorb_whole(&self.endpoint, &body);
        let faultless = read.and_then(|()| answer.fault().map_or(Ok(()), |fault| Err(odd(&self.endpoint, fault))));
        match faultless {
            Ok(()) => Ok(answer),
            Err(error) => Err(head.add_to(error).with_arrived(answer.arrived())),
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
        let Some(body) = more else { return Some(self.warned(response)) };
        self.pauses += 1;
        if self.pauses > MOST_PAUSES {
            let cut_off = response.with_finish(FinishReason::Length);
            return Some(self.warned(cut_off));
        }
        self.call.set_body(body.into());
        self.tries = RetryState::new(self.retries);
        self.before = Some(response);
        None
    }

    fn warned(&mut self, response: Response) -> Response {
        response.with_warnings(mem::take(&mut self.warnings))
    }

    /// Goes on to the next try after a failure, and keeps what this one used; an error for good has all that arrived.
    fn after(&mut self, mut error: ProviderError) -> Result<RetryDelay, ProviderError> {
        let arrived = error.take_arrived();
        match self.tries.after(error, fastrand::f64()) {
            Ok(pause) => {
                let lost = arrived.filter(|arrived| arrived.usage.total_tokens() > 0);
                self.before = joined(self.before.take(), lost.map(|lost| Response { parts: Vec::new(), ..lost }));
                Ok(pause)
            }
            Err(error) => Err(self.broken_off(error, arrived)),
        }
    }

    /// Adds to an error what had arrived, before the last pause and after it, and what all tries used.
    fn broken_off(&mut self, error: ProviderError, arrived: Option<Response>) -> ProviderError {
        match joined(self.before.take(), arrived) {
            Some(arrived) => error.with_arrived(arrived),
            None => error,
        }
    }
}

fn joined(before: Option<Response>, more: Option<Response>) -> Option<Response> {
    match (before, more) {
        (Some(before), Some(more)) => Some(before.followed_by(more)),
        (before, more) => before.or(more),
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
