//! A model wrapper that falls back to other models.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};

use crate::batched::{BatchAnswer, BatchStep, BatchTicket, BatchedExchange, BatchedRequest, OpenRequest};
use crate::error::{ErrorKind, ProviderError};
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent, ToolSpec};
use crate::response::Response;

/// A list of models: if one fails, the next one gets the request.
///
/// Each model does its own retries before the next one is tried. The error is that of the last model, with the number
/// of models that failed before. A stream falls back only until the first part of the answer arrived; waiting events
/// until then are delivered together with it.
///
/// By default it falls back after failures that another model may not have: connection failures and timeouts, rate
/// limits, exhausted quotas or credits, overload and other failures of the provider, a rejected key, an unknown
/// model, a conversation or request that is too long, and protocol errors. It does not fall back if the request is
/// rejected for its content, or if a content filter stops it.
///
/// Its name, as used by limits and events, is that of the first model. Usage and prices are those of the model that
/// answered, or failed last: [`Response::answered_by`]. The usage of models that failed before is not counted.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as model; pub use llm_do_providers as testing; pub use llm_do_providers as usage; }
/// use llm_do::testing::FunctionModel;
/// use llm_do::model::{ErrorKind, FallbackModel, ProviderError, Response};
/// use llm_do::usage::Usage;
///
/// let down = FunctionModel::new(|_| Err(ProviderError::new("a", ErrorKind::Overloaded, "overloaded")));
/// let up = FunctionModel::new(|_| Ok(Response::new("b", vec![], Usage::of_request(1, 1))));
/// let model = FallbackModel::new(down).or(up);
/// # _ = model;
/// ```
#[derive(Clone)]
pub struct FallbackModel {
    models: Vec<Arc<dyn Model>>,
    should_fall_back: Arc<dyn Fn(&ProviderError) -> bool + Send + Sync>,
}

impl FallbackModel {
    /// Creates a list of one model.
    pub fn new(model: impl Model + 'static) -> Self {
        Self { models: vec![Arc::new(model)], should_fall_back: Arc::new(is_model_specific) }
    }

    /// Appends a model to the list.
    #[must_use]
    pub fn or(mut self, model: impl Model + 'static) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// Sets which errors cause a fallback. Default: those that another model may not have.
    #[must_use]
    pub fn when(self, should_fall_back: impl Fn(&ProviderError) -> bool + Send + Sync + 'static) -> Self {
        Self { should_fall_back: Arc::new(should_fall_back), ..self }
    }

    /// Returns whether to try the next model after `error`.
    fn falls_back(&self, index: usize, error: &ProviderError) -> bool {
        index + 1 < self.models.len() && (self.should_fall_back)(error)
    }
}

impl fmt::Debug for FallbackModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FallbackModel").field(&self.models).finish()
    }
}

#[async_trait]
impl Model for FallbackModel {
    fn name(&self) -> &str {
        self.models[0].name()
    }

    /// Returns the features that all models have.
    fn profile(&self) -> Profile {
        let profiles = self.models.iter().map(Model::profile);
        profiles.reduce(Profile::and).unwrap_or_default()
    }

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for model in &self.models {
            let own = model.tool_notes(tool).map_err(|why| format!("`{}`: {why}", model.name()))?;
            let new: Vec<_> = own.into_iter().filter(|note| !notes.contains(note)).collect();
            notes.extend(new);
        }
        Ok(notes)
    }

    /// Prepares the request for the batch APIs of all models; if it fails in a batch of one model, it goes into a batch of the
    /// next.
    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        let mut exchanges = Vec::with_capacity(self.models.len());
        for model in &self.models {
            // A model without a price cannot be mixed with batches.
            let Some(batched) = model.batch(request)? else { return Ok(None) };
            exchanges.push((model.name().to_owned(), batched.into_exchange()));
        }
        Ok(Some(BatchedRequest::new(FallbackBatch { fallback: self.clone(), exchanges, index: 0 })))
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let mut index = 0;
        loop {
            let model = &self.models[index];
            match model.request(request).await {
                Ok(response) => return Ok(with_answering_model(response, model.name())),
                Err(error) if self.falls_back(index, &error) => index += 1,
                Err(error) => return Err(with_earlier_failures(with_failed_model(error, model.name()), index)),
            }
        }
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let mut waited = Vec::new();
        let mut index = 0;
        loop {
            let model = &self.models[index];
            let error = match started(model.as_ref(), request, &mut waited).await {
                Ok(stream) => {
                    let name = model.name().to_owned();
                    let before = stream::iter(waited.into_iter().map(Ok));
                    let answer = stream.map(move |event| match event {
                        Ok(StreamEvent::Done(response)) => Ok(StreamEvent::Done(with_answering_model(response, &name))),
                        other => other.map_err(|error| with_failed_model(error, &name)),
                    });
                    return Ok(Box::pin(before.chain(answer)));
                }
                Err(error) => error,
            };
            if !self.falls_back(index, &error) {
                return Err(with_earlier_failures(with_failed_model(error, model.name()), index));
            }
            index += 1;
            waited.push(StreamEvent::Waiting {
                on: format!("falling back to `{}` after {}", self.models[index].name(), cause(&error)),
            });
        }
    }
}

/// A request for the batches of several models.
struct FallbackBatch {
    fallback: FallbackModel,
    /// The name of each model, and its exchange.
    exchanges: Vec<(String, Box<dyn BatchedExchange>)>,
    index: usize,
}

impl BatchedExchange for FallbackBatch {
    fn submit(&self) -> BoxFuture<'static, Result<BatchTicket, ProviderError>> {
        self.exchanges[self.index].1.submit()
    }

    fn submitted(&self, ticket: BatchTicket) -> Result<Box<dyn OpenRequest>, ProviderError> {
        self.exchanges[self.index].1.submitted(ticket)
    }

    fn read(&mut self, answer: BatchAnswer) -> Result<BatchStep, ProviderError> {
        let index = self.index;
        let (name, exchange) = &mut self.exchanges[index];
        match exchange.read(answer) {
            Ok(BatchStep::Done(response)) => Ok(BatchStep::Done(Box::new(with_answering_model(*response, name)))),
            Ok(again) => Ok(again),
            Err(error) if self.fallback.falls_back(index, &error) => {
                self.index += 1;
                Ok(BatchStep::Again(Duration::ZERO))
            }
            Err(error) => Err(with_earlier_failures(with_failed_model(error, name), index)),
        }
    }
}

/// Returns a stream once its first part has arrived; waiting events until then are added to `waited`.
async fn started(
    model: &dyn Model,
    request: Request<'_>,
    waited: &mut Vec<StreamEvent>,
) -> Result<ResponseStream, ProviderError> {
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            waiting @ StreamEvent::Waiting { .. } => waited.push(waiting),
            first => return Ok(Box::pin(stream::iter([Ok(first)]).chain(stream))),
        }
    }
    Ok(stream)
}

fn with_answering_model(response: Response, by: &str) -> Response {
    // A nested `FallbackModel` has set it already.
    let by = response.answered_by.clone().unwrap_or_else(|| by.to_owned());
    response.with_answered_by(by)
}

/// Sets the model that sent the partial response, for its price.
fn with_failed_model(mut error: ProviderError, by: &str) -> ProviderError {
    match error.take_partial_response() {
        Some(arrived) => error.with_partial_response(with_answering_model(arrived, by)),
        None => error,
    }
}

fn with_earlier_failures(error: ProviderError, earlier: usize) -> ProviderError {
    match earlier {
        0 => error,
        1 => error.with_note("1 earlier model failed too"),
        _ => error.with_note(&format!("{earlier} earlier models failed too")),
    }
}

fn cause(error: &ProviderError) -> String {
    match error.status() {
        Some(status) if status >= 400 => format!("status {status} from {}", error.provider()),
        _ => format!("a failure of {}", error.provider()),
    }
}

fn is_model_specific(error: &ProviderError) -> bool {
    match error.kind() {
        ErrorKind::InvalidRequest => error.status() == Some(404),
        ErrorKind::ContentFilter | ErrorKind::Cancelled | ErrorKind::Configuration => false,
        ErrorKind::Auth
        | ErrorKind::ContextTooLong
        | ErrorKind::NoCredit
        | ErrorKind::RateLimited
        | ErrorKind::Overloaded
        | ErrorKind::Unavailable
        | ErrorKind::Transport
        | ErrorKind::Timeout
        | ErrorKind::Protocol => true,
    }
}
