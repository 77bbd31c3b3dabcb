//! A request that its provider answers in a batch.

mod cancelling;

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use self::cancelling::finish_cancellations;
#[cfg(feature = "http")]
pub(crate) use self::cancelling::spawn_cancellation;
use crate::error::{ErrorKind, ProviderError};
use crate::response::Response;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use crate::response::SettingWarning;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use crate::settings::Settings;

/// A request for the batch API of a provider, from [`Model::batch`](crate::Model::batch).
///
/// The runtime submits it, records where its answer will be, and waits for it. A model around another one passes its on.
#[must_use = "it is not sent before it is submitted"]
pub struct BatchedRequest(Box<dyn BatchedExchange>);

/// Where the answer of a submitted request will be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct BatchTicket {
    /// The name of the provider.
    pub provider: String,
    /// The provider's id of the batch.
    pub batch: String,
    /// The id of the request in the batch.
    pub request: String,
    /// How many requests the batch has.
    pub requests: u64,
}

/// How far a batch is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct BatchProgress {
    /// The provider's id of the batch.
    pub batch: String,
    /// How many of its requests have ended.
    pub ended: u64,
    /// How many requests it has.
    pub requests: u64,
    /// How long an answer may take after the submission.
    pub within: Duration,
}

/// How often batches are submitted and looked at.
#[cfg(feature = "http")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BatchPace {
    /// How long requests are collected before they are submitted together.
    pub(crate) collect: Duration,
    /// The longest time between two looks at a batch.
    pub(crate) longest_look: Duration,
}

#[cfg(feature = "http")]
impl Default for BatchPace {
    fn default() -> Self {
        Self { collect: Duration::from_secs(5), longest_look: Duration::from_secs(300) }
    }
}

#[cfg(feature = "http")]
impl BatchPace {
    /// Returns the time before the first look; it doubles with each further look.
    pub(crate) fn first_look(self) -> Duration {
        self.longest_look.min(Duration::from_secs(2))
    }
}

/// A request of a batch that the provider has.
///
/// Dropping it leaves the request to the provider, so that another process can wait for its answer.
#[doc(hidden)]
pub struct SubmittedRequest(Box<dyn OpenRequest>);

/// The body of an answer, or the error in its place.
pub(crate) type BatchAnswer = Result<Vec<u8>, ProviderError>;

/// Receives how far a batch is.
pub(crate) type OnProgress<'a> = &'a (dyn Fn(&BatchProgress) + Send + Sync);

/// An exchange whose requests go to a batch API.
pub(crate) trait BatchedExchange: Send {
    /// Returns a future that submits the next request, and may wait until the batch has more.
    fn submit(&self) -> BoxFuture<'static, Result<BatchTicket, ProviderError>>;

    /// Returns the request of a ticket, which may be from another process.
    ///
    /// # Errors
    ///
    /// Returns an error if the ticket is not one of this provider.
    fn submitted(&self, ticket: BatchTicket) -> Result<Box<dyn OpenRequest>, ProviderError>;

    /// Reads the answer of the last request.
    ///
    /// # Errors
    ///
    /// Returns an error if the request has failed, and may not be repeated.
    fn read(&mut self, answer: BatchAnswer) -> Result<BatchStep, ProviderError>;
}

/// What follows an answer.
pub(crate) enum BatchStep {
    /// It is complete.
    Done(Box<Response>),
    /// A further request has to be submitted, after a delay.
    Again(Duration),
}

/// A request that the provider has.
pub(crate) trait OpenRequest: Send + Sync {
    /// Waits for the answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the batch cannot be looked at, so that there may be an answer.
    fn wait<'a>(&'a self, progress: OnProgress<'a>) -> BoxFuture<'a, Result<BatchAnswer, ProviderError>>;

    /// Gives the answer up. A batch whose answers are all given up is cancelled.
    fn give_up(&self);
}

impl BatchedRequest {
    pub(crate) fn new(exchange: impl BatchedExchange + 'static) -> Self {
        Self(Box::new(exchange))
    }

    /// Returns the exchange, for a model around several ones.
    pub(crate) fn into_exchange(self) -> Box<dyn BatchedExchange> {
        self.0
    }

    /// Returns a future that submits the next request; nothing is sent before it is polled.
    #[doc(hidden)]
    pub fn submit(&self) -> impl Future<Output = Result<BatchTicket, ProviderError>> + Send + 'static + use<> {
        self.0.submit()
    }

    /// Returns the request of a ticket, which may be from another process.
    ///
    /// # Errors
    ///
    /// Returns an error if the ticket is not one of this provider.
    #[doc(hidden)]
    pub fn submitted(&self, ticket: BatchTicket) -> Result<SubmittedRequest, ProviderError> {
        self.0.submitted(ticket).map(SubmittedRequest)
    }

    /// Reads the answer of the last request; returns `None` if a further one has to be submitted.
    ///
    /// # Errors
    ///
    /// Returns an error if the request has failed, and may not be repeated.
    #[doc(hidden)]
    pub async fn read(&mut self, answer: Result<Vec<u8>, ProviderError>) -> Result<Option<Response>, ProviderError> {
        match self.0.read(answer)? {
            BatchStep::Done(response) => Ok(Some(*response)),
            BatchStep::Again(delay) => {
                tokio::time::sleep(delay).await;
                Ok(None)
            }
        }
    }

    /// Submits the request, and waits for its answer. Dropping the future gives the answer up.
    pub(crate) async fn answer(mut self) -> Result<Response, ProviderError> {
        loop {
            let ticket = self.submit().await?;
            let waiting = GiveUpOnDrop(Some(self.submitted(ticket)?));
            let answer = waiting.wait().await?;
            if let Some(response) = self.read(answer).await? {
                return Ok(response);
            }
        }
    }
}

impl SubmittedRequest {
    /// Waits for the body of the answer, or the error in its place. `progress` is called when it begins to wait, and when a
    /// further tenth of the requests has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the batch cannot be looked at, so that there may be an answer.
    #[doc(hidden)]
    pub async fn wait(
        &self,
        progress: &(dyn Fn(&BatchProgress) + Send + Sync),
    ) -> Result<Result<Vec<u8>, ProviderError>, ProviderError> {
        self.0.wait(progress).await
    }

    /// Gives the answer up. A batch whose answers are all given up is cancelled.
    #[doc(hidden)]
    pub fn give_up(&self) {
        self.0.give_up();
    }
}

/// Gives an answer up when it is no longer waited for.
struct GiveUpOnDrop(Option<SubmittedRequest>);

impl GiveUpOnDrop {
    async fn wait(mut self) -> Result<BatchAnswer, ProviderError> {
        let Some(submitted) = &self.0 else { return Err(stopped("llm-do")) };
        let answer = submitted.wait(&|_| {}).await;
        self.0 = None;
        answer
    }
}

impl Drop for GiveUpOnDrop {
    fn drop(&mut self) {
        if let Some(submitted) = &self.0 {
            submitted.give_up();
        }
    }
}

impl fmt::Debug for BatchedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchedRequest").finish_non_exhaustive()
    }
}

impl fmt::Debug for SubmittedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmittedRequest").finish_non_exhaustive()
    }
}

impl fmt::Display for BatchProgress {
    /// Formats it as `the batch batch_1: 3 of 10 requests have ended; answers arrive within 24 h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, ended, requests, within } = self;
        let hours = within.as_secs() / 3600;
        write!(f, "the batch {batch}: {ended} of {requests} requests have ended; answers arrive within {hours} h")
    }
}

/// Returns the settings of a request in a batch, and a warning about one that is not sent.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) fn settings(settings: &Settings) -> (Settings, Option<SettingWarning>) {
    let not_sent = "not sent: a batch has a price and a time of its own";
    let warning = settings.service_tier.as_ref().map(|_| SettingWarning::new("service_tier", not_sent));
    (Settings { service_tier: None, ..settings.clone() }, warning)
}

/// The error for a model without a batch API.
pub(crate) fn unsupported(model: &str) -> ProviderError {
    let provider = model.split_once(':').map_or(model, |(provider, _)| provider);
    let text = format!(
        "`{model}` has no batch API that is supported; unset `batch` for it, or use a model of OpenAI, Anthropic or Gemini"
    );
    ProviderError::new(provider, ErrorKind::InvalidRequest, text)
}

/// The error for a request whose batch is no longer looked at, such as at the end of the process.
pub(crate) fn stopped(provider: &str) -> ProviderError {
    let text = "the batch is no longer looked at, since the program ends; resume the run to wait for its answer";
    ProviderError::new(provider, ErrorKind::Cancelled, text)
}
