//! A model that is asked only so often.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::error::ProviderError;
use crate::model::{Model, Profile, Request, ResponseStream};
use crate::response::Response;

const MINUTE: Duration = Duration::from_secs(60);

/// A model that is asked by at most so many at once, and so often a minute; others wait for their turn.
///
/// Clones share the limits, so that one is given to every runtime that is to keep to them. A streamed answer counts until
/// its stream ends or is dropped. Requests in a minute are spread evenly: after one comes a pause before the next. They begin
/// in the order in which they came. One that is dropped leaves its turn to the next; one that is kept and no longer polled
/// holds up those behind it.
///
/// What a model sends by itself is part of one request: its tries after failures, each after a wait of its own, and what a
/// provider wants to be sent after a pause. So a server that fails is sent up to `retries + 1` times as many. Where it counts
/// those too, let so many fewer through, or build the model with `retries(0)`.
///
/// # Examples
///
/// ```
/// use llm_do_providers::{FunctionModel, LimitedModel, Response, Usage};
///
/// let model = FunctionModel::new(|_| Ok(Response::new("m", vec![], Usage::of_request(1, 1))));
/// let model = LimitedModel::new(model).at_once(4).per_minute(60);
/// # _ = model;
/// ```
#[derive(Clone)]
pub struct LimitedModel {
    model: Arc<dyn Model>,
    places: Arc<Semaphore>,
    pace: Option<Arc<RequestPacer>>,
}

/// When requests may begin.
struct RequestPacer {
    pause: Duration,
    /// When the next may; whoever holds it is the next.
    next: Mutex<Option<Instant>>,
}

impl LimitedModel {
    /// Returns the model without limits so far.
    pub fn new(model: impl Model + 'static) -> Self {
        Self { model: Arc::new(model), places: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)), pace: None }
    }

    /// Lets at most so many requests be under way; 0 is taken for 1. Default: as many as there are.
    #[must_use]
    pub fn at_once(self, requests: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(requests.clamp(1, Semaphore::MAX_PERMITS))), ..self }
    }

    /// Begins at most so many requests in a minute; 0 is taken for 1. Default: as many as there are.
    ///
    /// A model's own tries after a failure are not counted: see the [type](LimitedModel).
    #[must_use]
    pub fn per_minute(self, requests: u32) -> Self {
        let pause = MINUTE / requests.max(1);
        Self { pace: Some(Arc::new(RequestPacer { pause, next: Mutex::new(None) })), ..self }
    }

    /// Waits for a place, and then for its turn.
    async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        if let Some(pace) = &self.pace {
            pace.turn().await;
        }
        place
    }
}

impl RequestPacer {
    /// Waits for its turn, and takes it: whoever gives up before that takes none.
    async fn turn(&self) {
        // Held while it waits, since it is the queue: it is had in the order of asking, and goes on to whoever is behind.
        let mut next = self.next.lock().await;
        let now = Instant::now();
        let turn = next.map_or(now, |next| next.max(now));
        sleep_until(turn).await;
        *next = Some(turn + self.pause);
    }
}

impl fmt::Debug for LimitedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitedModel").field("model", &self.model).finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for LimitedModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn profile(&self) -> Profile {
        self.model.profile()
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let _place = self.turn().await;
        self.model.request(request).await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let place = self.turn().await;
        let answer = self.model.stream(request).await?;
        // The place goes with the stream, and is free once that is dropped.
        Ok(Box::pin(stream::unfold((answer, place), |(mut answer, place)| async move {
            let event = answer.next().await?;
            Some((event, (answer, place)))
        })))
    }
}
