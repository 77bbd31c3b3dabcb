//! Repeats a request whose streamed answer broke off.

use std::time::Duration;

use llm_do_providers::{ErrorKind, ProviderError, Response, Usage};

use super::{RequestParts, WorkerRun};
use crate::base::delay::sleep;
use crate::base::error::CallError;
use crate::observe::event::EventKind;

/// The delay before the first repeat; it doubles with each further one.
const INITIAL_DELAY: Duration = Duration::from_millis(250);
/// The longest delay that a provider may ask for before a repeat.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// How far a streamed answer came.
#[derive(Debug, Default)]
pub(super) struct StreamProgress {
    /// Whether a piece of it was shown, so that the model itself does not repeat the request.
    pub(super) has_begun: bool,
    /// Whether the provider ran one of its tools, which a repeat would run again.
    pub(super) has_run_tools: bool,
}

impl WorkerRun {
    /// Sends a request until its answer is complete, up to `repeats` times more if the answer breaks off while it streams.
    ///
    /// No tool of a turn runs before its answer is complete. The usage of broken answers is part of that of the answer or of
    /// the error.
    pub(super) async fn answer_or_repeat(
        &self,
        parts: &RequestParts,
        answers: u32,
        repeats: u32,
    ) -> Result<Response, CallError> {
        let (mut lost, mut reserved) = (Usage::default(), Vec::new());
        loop {
            let mut progress = StreamProgress::default();
            let source = match self.answer(parts, answers, &mut progress).await {
                Ok(response) => return Ok(with_lost(response, lost)),
                Err(CallError::Model { source, .. }) => source,
                Err(error) => return Err(error),
            };
            let repeat = u32::try_from(reserved.len()).unwrap_or(u32::MAX);
            let delay = repeat_delay(&source, &progress, repeat).filter(|_| repeat < repeats);
            // Each repeat is a request within the limits.
            let reserve =
                |delay| Some((delay, self.ctx.begin_request(&self.model.name, self.model.price().is_some()).ok()?));
            let Some((delay, next)) = delay.filter(|_| !self.ctx.is_cancelled()).and_then(reserve) else {
                return Err(self.failed(with_lost_before(source, lost)));
            };
            reserved.push(next);
            lost += used_by(&source);
            self.ctx.emit(|| EventKind::ModelRetry { reason: format!("the answer broke off: {source}") });
            sleep(delay).await;
        }
    }
}

/// Returns the delay before a request is repeated; `None` if it must not be.
fn repeat_delay(error: &ProviderError, progress: &StreamProgress, repeats: u32) -> Option<Duration> {
    let is_transient = error.should_retry().unwrap_or(matches!(
        error.kind(),
        ErrorKind::Transport | ErrorKind::Unavailable | ErrorKind::Overloaded | ErrorKind::RateLimited
    ));
    let may_repeat = is_transient && progress.has_begun && !progress.has_run_tools;
    let delay = error.retry_after().unwrap_or(INITIAL_DELAY * 2_u32.saturating_pow(repeats.min(8)));
    Some(delay).filter(|delay| may_repeat && *delay <= LONGEST_DELAY)
}

/// Returns the usage of a broken answer, which is that of a request even if nothing was reported.
fn used_by(error: &ProviderError) -> Usage {
    let mut used = error.partial_response().map(|arrived| arrived.usage).unwrap_or_default();
    used.requests = used.requests.max(1);
    used
}

/// Adds the usage of broken answers to that of the complete one.
fn with_lost(mut response: Response, lost: Usage) -> Response {
    if lost.requests > 0 {
        response.usage.requests = response.usage.requests.max(1);
        response.usage += lost;
    }
    response
}

/// Adds the usage of earlier broken answers to that of the last one.
fn with_lost_before(error: ProviderError, lost: Usage) -> ProviderError {
    if lost.requests == 0 {
        return error;
    }
    let arrived = error.partial_response().cloned();
    let arrived = arrived.unwrap_or_else(|| Response::new("", Vec::new(), Usage::of_request(0, 0)));
    error.with_partial_response(with_lost(arrived, lost))
}
