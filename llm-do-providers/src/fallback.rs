//! Models in a row: the next answers where one fails.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::error::{ErrorKind, ProviderError};
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent};
use crate::response::Response;

/// Models in a row, of which the next is asked where one fails for good.
///
/// Each tries as often as it does by itself, and then the next is asked the same. What the last fails with is the error,
/// with a note on the others. A stream goes on with the next only while nothing of the answer was shown; what was waited for
/// until then is told with its first piece.
///
/// By default it goes on after failures that another model may not have: no connection or no answer in time, too many
/// requests, a quota or a credit that is used up, an overload or another failure of the provider, a refused key, a model that is
/// not there, a conversation or a request that is longer than it takes, or an answer that breaks the protocol. It does not after
/// a request that is refused for what it says, nor after one that a filter stops.
///
/// Its name is the first one's, as limits and events say it, while usage and prices are of the model that answered, or failed
/// last: [`Response::answered_by`]. What those used that failed before it is not counted.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::*; pub mod testing { pub use llm_do_providers::*; } }
/// use llm_do::testing::FunctionModel;
/// use llm_do::{ErrorKind, FallbackModel, ProviderError, Response, Usage};
///
/// let down = FunctionModel::new(|_| Err(ProviderError::new("a", ErrorKind::Overloaded, "it is overloaded")));
/// let up = FunctionModel::new(|_| Ok(Response::new("b", vec![], Usage::of_request(1, 1))));
/// let model = FallbackModel::new(down).or(up);
/// # _ = model;
/// ```
#[derive(Clone)]
pub struct FallbackModel {
    models: Vec<Arc<dyn Model>>,
    goes_on: Arc<dyn Fn(&ProviderError) -> bool + Send + Sync>,
}

impl FallbackModel {
    /// Returns a row of one model.
    pub fn new(model: impl Model + 'static) -> Self {
        Self { models: vec![Arc::new(model)], goes_on: Arc::new(is_of_the_model) }
    }

    /// Adds a model to the end of the row.
    #[must_use]
    pub fn or(mut self, model: impl Model + 'static) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// Says after which errors the next model is asked. Default: those that another model may not have.
    #[must_use]
    pub fn when(self, goes_on: impl Fn(&ProviderError) -> bool + Send + Sync + 'static) -> Self {
        Self { goes_on: Arc::new(goes_on), ..self }
    }

    /// Returns whether another model is to be asked.
    fn passes_on(&self, place: usize, error: &ProviderError) -> bool {
        place + 1 < self.models.len() && (self.goes_on)(error)
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

    /// Returns what all of them can do.
    fn profile(&self) -> Profile {
        let profiles = self.models.iter().map(Model::profile);
        profiles.reduce(Profile::and).unwrap_or_default()
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let mut place = 0;
        loop {
            let model = &self.models[place];
            match model.request(request).await {
                Ok(response) => return Ok(answered(response, model.name())),
                Err(error) if self.passes_on(place, &error) => place += 1,
                Err(error) => return Err(noted(failed(error, model.name()), place)),
            }
        }
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let mut waited = Vec::new();
        let mut place = 0;
        loop {
            let model = &self.models[place];
            let error = match begun(model.as_ref(), request, &mut waited).await {
                Ok(stream) => {
                    let name = model.name().to_owned();
                    let before = stream::iter(waited.into_iter().map(Ok));
                    let answer = stream.map(move |event| match event {
                        Ok(StreamEvent::Done(response)) => Ok(StreamEvent::Done(answered(response, &name))),
                        other => other.map_err(|error| failed(error, &name)),
                    });
                    return Ok(Box::pin(before.chain(answer)));
                }
                Err(error) => error,
            };
            if !self.passes_on(place, &error) {
                return Err(noted(failed(error, model.name()), place));
            }
            place += 1;
            waited
                .push(StreamEvent::Waiting { on: format!("`{}` after {}", self.models[place].name(), brief(&error)) });
        }
    }
}

/// Returns an answer once its first piece is there; what is waited for until then is added to `waited`.
async fn begun(
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

fn answered(response: Response, by: &str) -> Response {
    // A row in a row knows better.
    let by = response.answered_by.clone().unwrap_or_else(|| by.to_owned());
    response.with_answered_by(by)
}

/// Says of what arrived by whom it is, for its price.
fn failed(mut error: ProviderError, by: &str) -> ProviderError {
    match error.take_arrived() {
        Some(arrived) => error.with_arrived(answered(arrived, by)),
        None => error,
    }
}

fn noted(error: ProviderError, place: usize) -> ProviderError {
    if place == 0 { error } else { error.with_note(&format!("{place} before it failed too")) }
}

fn brief(error: &ProviderError) -> String {
    match error.status() {
        Some(status) if status >= 400 => format!("status {status} of {}", error.provider()),
        _ => format!("a failure of {}", error.provider()),
    }
}

fn is_of_the_model(error: &ProviderError) -> bool {
    match error.kind() {
        ErrorKind::InvalidRequest => error.status() == Some(404),
        ErrorKind::ContentFilter | ErrorKind::Cancelled | ErrorKind::Configuration => false,
        ErrorKind::Auth
        | ErrorKind::ContextTooLong
        | ErrorKind::RateLimited
        | ErrorKind::Overloaded
        | ErrorKind::Unavailable
        | ErrorKind::Transport
        | ErrorKind::Timeout
        | ErrorKind::Protocol => true,
    }
}
