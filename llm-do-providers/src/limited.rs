//! A model wrapper with a concurrency limit and a rate limit.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use crate::batched::BatchedRequest;
use crate::error::ProviderError;
use crate::model::{ContextWindow, Model, Profile, Request, ResponseStream, ToolSpec};
use crate::response::Response;

const MINUTE: Duration = Duration::from_secs(60);

/// A model wrapper that limits concurrent requests and requests per minute; further requests wait in order.
///
/// Clones share the limits, so use clones of one model in all runtimes that share a limit. A streamed response counts
/// until its stream ends or is dropped. Requests are spread evenly over a minute: after each there is a pause before
/// the next. They start in the order of arrival. A waiting request that is dropped passes its turn to the next one; a
/// waiting request that is kept but no longer polled blocks those behind it.
///
/// Requests that a model sends on its own are part of one request: its retries, each after its own wait, and
/// continuations after a provider's pause. So a failing server receives up to `retries + 1` times as many requests.
/// If it counts those too, set a lower limit, or build the model with `retries(0)`. Requests that a runtime sends to a
/// batch API are not limited.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as model; pub use llm_do_providers as testing; pub use llm_do_providers as usage; }
/// use llm_do::testing::FunctionModel;
/// use llm_do::model::{LimitedModel, Response};
/// use llm_do::usage::Usage;
///
/// let model = FunctionModel::new(|_| Ok(Response::new("m", vec![], Usage::of_request(1, 1))));
/// let model = LimitedModel::new(model).max_concurrent(4).per_minute(60);
/// # _ = model;
/// ```
#[derive(Clone)]
pub struct LimitedModel {
    model: Arc<dyn Model>,
    permits: Arc<Semaphore>,
    rate_limiter: Option<Arc<RateLimiter>>,
}

/// A rate limiter with evenly spaced permits.
struct RateLimiter {
    interval: Duration,
    /// The earliest start of the next request.
    next: Mutex<Option<Instant>>,
}

impl LimitedModel {
    /// Wraps `model` without limits.
    pub fn new(model: impl Model + 'static) -> Self {
        Self { model: Arc::new(model), permits: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)), rate_limiter: None }
    }

    /// Limits the number of concurrent requests; 0 is treated as 1. Default: unlimited.
    #[must_use]
    pub fn max_concurrent(self, requests: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(requests.clamp(1, Semaphore::MAX_PERMITS))), ..self }
    }

    /// Limits the number of requests per minute; 0 is treated as 1. Default: unlimited.
    ///
    /// The model's own retries are not counted: see the [type](LimitedModel).
    #[must_use]
    pub fn per_minute(self, requests: u32) -> Self {
        let interval = MINUTE / requests.max(1);
        Self { rate_limiter: Some(Arc::new(RateLimiter { interval, next: Mutex::new(None) })), ..self }
    }

    /// Waits for a concurrency permit, and then for the rate limiter.
    async fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.ok();
        if let Some(rate_limiter) = &self.rate_limiter {
            rate_limiter.wait().await;
        }
        permit
    }
}

impl RateLimiter {
    /// Waits for the next slot and uses it; a dropped future uses none.
    async fn wait(&self) {
        // The lock is held while waiting, since it is the queue: tokio's mutex is fair, and a dropped waiter passes
        // it on.
        let mut next = self.next.lock().await;
        let now = Instant::now();
        let start = next.map_or(now, |next| next.max(now));
        sleep_until(start).await;
        *next = Some(start + self.interval);
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

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        self.model.tool_notes(tool)
    }

    fn reports_window(&self) -> bool {
        self.model.reports_window()
    }

    async fn ask_window(&self) -> Result<Option<ContextWindow>, ProviderError> {
        self.model.ask_window().await
    }

    /// Prepares the request without the limits: a batch is one request to the provider.
    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        self.model.batch(request)
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let _permit = self.acquire().await;
        self.model.request(request).await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let permit = self.acquire().await;
        let answer = self.model.stream(request).await?;
        // The permit is released when the stream is dropped.
        Ok(Box::pin(stream::unfold((answer, permit), |(mut answer, permit)| async move {
            let event = answer.next().await?;
            Some((event, (answer, permit)))
        })))
    }
}
