//! One exchange with a server: its attempts, the events of a streamed answer, and the errors.

mod fault;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
mod in_batch;
mod json_repair;
#[cfg(any(test, fuzzing))]
pub(crate) mod pieces;
mod reading;
mod streaming;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::sleep;

#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::fault::malformed;
#[cfg(feature = "gemini")]
pub(crate) use self::fault::protocol_error;
pub(crate) use self::fault::{invalid_json, reported};
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use self::in_batch::InBatch;
use self::streaming::Streaming;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use crate::batch::Batcher;
use crate::batch::chance;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use crate::batched::BatchedRequest;
use crate::error::ProviderError;
use crate::http::{Endpoint, Event, PreparedRequest, WholeResponse};
use crate::message::FinishReason;
#[cfg(feature = "anthropic")]
use crate::message::ResponsePart;
use crate::model::{ResponseStream, StreamEvent};
use crate::response::{Response, SettingWarning};
use crate::retry::{RetryDelay, RetryState};
#[cfg(feature = "anthropic")]
use crate::schema::tool::ToolForm;
use crate::settings::{Settings, Warnings};

/// Accumulates an answer by the protocol of one provider.
pub(crate) trait ResponseAccumulator: Send + 'static {
    /// Parses a whole answer.
    ///
    /// # Errors
    ///
    /// Returns an error if it is invalid, or is itself an error.
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError>;

    /// Parses one event of a stream, and adds its events to `ready`.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is invalid or reports an error. An invalid event adds nothing to the answer; content beside
    /// an error is kept.
    fn absorb(
        &mut self,
        server: &Endpoint,
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError>;

    /// Returns the error for an error object in an answer of status 200. Default: the error that its code, its type and
    /// its message indicate.
    fn error(server: &Endpoint, error: &Value) -> ProviderError {
        reported(server, error)
    }

    /// Returns the number of parts so far, calls included.
    fn parts(&self) -> usize;

    /// Whether the server has sent the finish reason. The answer is then complete, even if the stream breaks off.
    fn is_finished(&self) -> bool;

    /// Returns the fault of the answer at its end, if any.
    fn fault(&self) -> Option<&'static str>;

    /// Returns the complete answer. Called only if the answer has no fault.
    fn complete(self) -> Response;

    /// Returns the parts of an answer that broke off, without calls whose arguments may be incomplete.
    fn partial_response(self) -> Response;

    /// Whether the server paused, and resumes once the answer so far is sent back to it. Default: `false`.
    fn is_paused(&self) -> bool {
        false
    }

    /// Returns the body of the request that resumes the answer `paused` to the request body `sent`. `None` ends the
    /// answer there. Default: `None`.
    fn continuation(_sent: &[u8], _paused: &Response) -> Option<Vec<u8>> {
        None
    }

    /// Updates parts from before a pause with what arrived after it. Default: does nothing.
    fn merge_paused(_answer: &mut Response) {}
}

/// What an event was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absorbed {
    /// A part of the answer, or an event to ignore.
    More,
    /// The end of the answer.
    End,
    /// Not an event of the protocol. It may be the error of a proxy.
    Unknown,
}

/// The maximum number of parts of an answer, since each event searches them. No model writes that many.
pub(crate) const MAX_PARTS: usize = 4096;
/// The maximum number of pauses; an answer with more is treated as cut off.
const MOST_PAUSES: usize = 10;
/// The initial capacity of a request's body, in bytes.
const BODY: usize = 4 << 10;

/// A request in flight; `begin` returns an empty accumulator.
pub(crate) struct Exchange<F> {
    endpoint: Arc<Endpoint>,
    call: Arc<PreparedRequest>,
    retries: u32,
    tries: RetryState,
    begin: F,
    /// The answer up to the last pause, with the usage of failed attempts since then.
    before: Option<Response>,
    pauses: usize,
    /// The warnings about settings that were not sent as they were set.
    warnings: Vec<SettingWarning>,
    /// The tools whose properties have other names in the request.
    renamed: RenamedTools,
}

impl<F, G> Exchange<F>
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
{
    /// Serializes a request, with the fields and headers of its settings; failures are retried `retries` times.
    ///
    /// # Errors
    ///
    /// Returns an error if the request cannot be written as JSON.
    pub(crate) fn new(
        endpoint: &Arc<Endpoint>,
        request: &impl Serialize,
        settings: &Settings,
        retries: u32,
        begin: F,
    ) -> Result<Self, ProviderError> {
        let body = body(request, &settings.extra_body).map_err(|error| {
            let text = "the request cannot be written as JSON; check its settings for NaN and infinite numbers";
            ProviderError::invalid_request(endpoint.provider, text).with_source(error)
        })?;
        let call = Arc::new(PreparedRequest::new(endpoint.provider, body.into(), settings)?);
        let (endpoint, tries) = (endpoint.for_call(&call), RetryState::new(retries));
        Ok(Self {
            endpoint,
            call,
            retries,
            tries,
            begin,
            before: None,
            pauses: 0,
            warnings: Vec::new(),
            renamed: RenamedTools::default(),
        })
    }

    /// Adds `warnings` to the answer.
    pub(crate) fn with_warnings(self, warnings: Warnings) -> Self {
        Self { warnings: warnings.into_list(), ..self }
    }

    /// Adds a further warning to the answer.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn with_warning(mut self, warning: Option<SettingWarning>) -> Self {
        self.warnings.extend(warning);
        self
    }

    /// Restores the names of properties in calls of these tools.
    #[cfg(feature = "anthropic")]
    pub(crate) fn with_renamed(self, tools: Vec<(Arc<str>, Arc<ToolForm>)>) -> Self {
        Self { renamed: RenamedTools(tools), ..self }
    }

    /// Returns the exchange as one whose requests go to the batches of a batcher, which `batcher` returns for the headers of the
    /// request.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn batched(self, batcher: impl FnOnce(&PreparedRequest) -> Arc<Batcher>) -> BatchedRequest {
        let batcher = batcher(&self.call);
        BatchedRequest::new(InBatch { exchange: self, batcher })
    }

    /// Returns the body to be sent, and an empty accumulator.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn begun(&self) -> (&[u8], G) {
        (self.call.body(), (self.begin)())
    }

    /// Waits for the whole answer.
    pub(crate) async fn whole(mut self) -> Result<Response, ProviderError> {
        loop {
            match self.attempt().await {
                Ok(answer) => {
                    if let Some(response) = self.finish_or_continue(answer) {
                        return Ok(response);
                    }
                }
                Err(error) => sleep(self.after(error)?.wait).await,
            }
        }
    }

    /// Returns the answer as it arrives; nothing is sent before the first poll.
    pub(crate) fn stream(self) -> ResponseStream
    where
        F: Unpin,
    {
        Box::pin(Streaming::new(self))
    }

    /// Sends the request once; the error of a failed answer has the parts that could be read.
    async fn attempt(&self) -> Result<G, ProviderError> {
        let WholeResponse { head, body } = self.endpoint.fetch(&self.call).await?;
        self.read(&body).map_err(|error| head.add_to(error))
    }

    /// Reads the body of an answer; the error has the parts that could be read.
    fn read(&self, body: &[u8]) -> Result<G, ProviderError> {
        let mut answer = (self.begin)();
        match reading::read_whole(&mut answer, &self.endpoint, body) {
            Ok(()) => Ok(answer),
            Err(error) => Err(error.with_partial_response(answer.partial_response())),
        }
    }

    /// Returns the complete answer. If the server paused, prepares the next request and returns `None`.
    fn finish_or_continue(&mut self, answer: G) -> Option<Response> {
        let is_paused = answer.is_paused();
        let part = answer.complete();
        let more = if is_paused { G::continuation(self.call.body(), &part) } else { None };
        let mut response = match self.before.take() {
            Some(before) => before.followed_by(part),
            None => part,
        };
        G::merge_paused(&mut response);
        let Some(body) = more else { return Some(self.warned(response)) };
        self.pauses += 1;
        if self.pauses > MOST_PAUSES {
            let cut_off = response.with_finish(FinishReason::Length);
            return Some(self.warned(cut_off));
        }
        Arc::make_mut(&mut self.call).set_body(body.into());
        self.tries = RetryState::new(self.retries);
        self.before = Some(response);
        None
    }

    fn warned(&mut self, response: Response) -> Response {
        self.renamed.restore(response).with_warnings(mem::take(&mut self.warnings))
    }

    /// Prepares the next attempt after a failure, and keeps the usage of this attempt. The final error has the partial
    /// answer.
    fn after(&mut self, mut error: ProviderError) -> Result<RetryDelay, ProviderError> {
        let arrived = error.take_partial_response();
        match self.tries.after(error, chance()) {
            Ok(pause) => {
                let lost = arrived.filter(|arrived| arrived.usage.total_tokens() > 0);
                self.before = joined(self.before.take(), lost.map(|lost| Response { parts: Vec::new(), ..lost }));
                Ok(pause)
            }
            Err(error) => Err(self.broken_off(error, arrived)),
        }
    }

    /// Adds the partial answer to an error: the parts before and after the last pause, and the usage of all attempts.
    fn broken_off(&mut self, error: ProviderError, arrived: Option<Response>) -> ProviderError {
        match joined(self.before.take(), arrived) {
            Some(arrived) => error.with_partial_response(arrived),
            None => error,
        }
    }
}

/// Tools whose properties have other names in the request, by name.
#[derive(Debug, Default)]
struct RenamedTools(#[cfg(feature = "anthropic")] Vec<(Arc<str>, Arc<ToolForm>)>);

impl RenamedTools {
    #[cfg(feature = "anthropic")]
    fn restore(&self, mut response: Response) -> Response {
        for part in &mut response.parts {
            if let ResponsePart::ToolCall(call) = part
                && let Some((_, form)) = self.0.iter().find(|(name, _)| *call.name == **name)
                && let Some(restored) = form.restore(&call.arguments)
            {
                call.arguments = restored;
            }
        }
        response
    }

    #[cfg(not(feature = "anthropic"))]
    #[allow(clippy::unused_self, reason = "with the other feature it is used")]
    fn restore(&self, response: Response) -> Response {
        response
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
