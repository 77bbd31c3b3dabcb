//! Repeats a request whose streamed answer broke off.

use std::time::Duration;

use llm_do_providers::{ProviderError, Response, Usage};

use super::batch::BatchPlace;
use super::{RequestParts, WorkerRun};
use crate::base::delay::sleep;
use crate::base::error::CallError;
use crate::base::usage::{Cost, RunUsage};
use crate::observe::event::EventKind;
use crate::plane::context::ReservedRequest;

/// The delay before the first repeat; it doubles with each further one.
const INITIAL_DELAY: Duration = Duration::from_millis(250);
/// The longest delay before a repeat; a request for which a provider asks for a longer one is not repeated.
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
    /// the error; if this future is dropped, or is cancelled before a repeat, it is what `unfinished` has by then.
    pub(super) async fn answer_or_repeat(
        &self,
        parts: &RequestParts,
        answers: u32,
        repeats: u32,
        unfinished: &mut Usage,
        place: &BatchPlace<'_>,
    ) -> Result<Response, CallError> {
        let (mut lost, mut reserved) = (Usage::default(), Vec::new());
        loop {
            unfinished.requests = unfinished.requests.saturating_add(1);
            let mut progress = StreamProgress::default();
            let source = match self.answer(parts, answers, &mut progress, place).await {
                Ok(response) => return Ok(with_lost(response, lost)),
                Err(CallError::Model { source, .. }) => source,
                Err(error) => return Err(error),
            };
            let repeat = u32::try_from(reserved.len()).unwrap_or(u32::MAX);
            let delay = repeat_delay(&source, &progress, repeat);
            let delay = delay.filter(|_| repeat < repeats && !self.ctx.is_cancelled());
            let all_lost = lost + used_by(&source);
            let reserve = |delay| Some((delay, self.reserve_repeat(parts, all_lost, reserved.len() + 1)?));
            let Some((delay, next)) = delay.and_then(reserve) else {
                return Err(self.failed(with_lost_before(source, lost)));
            };
            reserved.push(next);
            *unfinished = all_lost;
            self.ctx.emit(|| EventKind::ModelRetry { reason: format!("the answer broke off: {source}") });
            let wait = async {
                sleep(delay).await;
                Ok(())
            };
            self.unless_cancelled(wait).await?;
            lost = all_lost;
        }
    }

    /// Reserves one more request after `broken` broken answers, which used `lost`; `None` if a limit forbids it.
    fn reserve_repeat(&self, parts: &RequestParts, lost: Usage, broken: usize) -> Option<ReservedRequest> {
        let cost = Cost::of_charge(self.model.price().map(|price| price.charge(&lost)));
        let mut model = lost;
        // Each broken answer still has its own reservation.
        model.requests = model.requests.saturating_sub(u64::try_from(broken).unwrap_or(u64::MAX));
        let lost = RunUsage { model, cost, ..RunUsage::default() };
        self.ctx.begin_repeat(&self.model.name, || self.unpriced(parts), &lost).ok()
    }
}

/// Returns the delay before a request is repeated; `None` if it must not be.
fn repeat_delay(error: &ProviderError, progress: &StreamProgress, repeat: u32) -> Option<Duration> {
    let may_repeat = error.is_transient() && progress.has_begun && !progress.has_run_tools;
    let own = INITIAL_DELAY.saturating_mul(2_u32.saturating_pow(repeat)).min(LONGEST_DELAY);
    let delay = error.retry_after().unwrap_or(own);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use llm_do_providers::{ErrorKind, ProviderError};

    use super::{LONGEST_DELAY, StreamProgress, repeat_delay};

    #[test]
    fn the_delay_doubles_up_to_the_longest() {
        let progress = StreamProgress { has_begun: true, has_run_tools: false };
        let error = ProviderError::new("p", ErrorKind::Transport, "it broke");
        let delay = |repeat| repeat_delay(&error, &progress, repeat).map(|delay| delay.as_millis());
        assert_eq!([0, 1, 7].map(delay), [Some(250), Some(500), Some(32_000)]);
        assert_eq!([8, 9, 100, u32::MAX].map(delay), [Some(60_000); 4]);
        let asked = |seconds| {
            let error = ProviderError::new("p", ErrorKind::Transport, "it broke");
            repeat_delay(&error.with_retry_after(Duration::from_secs(seconds)), &progress, 8)
        };
        assert_eq!([asked(1), asked(60), asked(61)], [Some(Duration::from_secs(1)), Some(LONGEST_DELAY), None]);
    }
}
