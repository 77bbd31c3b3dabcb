//! Requests in batches of their provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use llm_do_providers::{
    BatchProgress, BatchTicket, BatchedRequest, ProviderError, Response, SettingWarning, SubmittedRequest,
};
use serde_json::Value;
use tokio::time::Instant;

use super::WorkerRun;
use crate::base::error::CallError;
use crate::observe::event::EventKind;
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::context::{JournalMethod, StepOutcome};

/// The time within which the answers of a batch arrive, for a warning.
const WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// The step of a request, which may be submitted several times: after a pause of the provider, and after a failure.
pub(super) struct BatchPlace<'s> {
    step: Option<&'s StepSpec>,
    submissions: AtomicU32,
    is_given_up: AtomicBool,
}

impl<'s> BatchPlace<'s> {
    /// Returns the place of the step of a request, which is `None` without a journal.
    pub(super) fn new(step: Option<&'s StepSpec>) -> Self {
        Self { step, submissions: AtomicU32::new(0), is_given_up: AtomicBool::new(false) }
    }

    /// Gives the answer up that is waited for, since a message interrupts the request.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Returns the step that records the next submission.
    fn next_step(&self) -> Option<StepSpec> {
        let number = self.submissions.fetch_add(1, Ordering::Relaxed);
        let mut step = self.step?.within(StepKind::Submitted, &format!("submitted:{number}"));
        // The step of the answer has the input.
        step.input = Arc::new(Value::Null);
        Some(step)
    }
}

/// A request that the provider has, and whose answer is waited for.
///
/// On drop, its answer is given up if no resumed run can wait for it: without a journal, in a cancelled run, and after a message
/// that interrupts.
struct WaitingRequest<'a> {
    run: &'a WorkerRun,
    place: &'a BatchPlace<'a>,
    submitted: SubmittedRequest,
    is_answered: bool,
}

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        let ctx = &self.run.ctx;
        let is_lost = ctx.journal().is_none() || ctx.is_cancelled() || self.place.is_given_up.load(Ordering::Relaxed);
        if !self.is_answered && is_lost {
            self.submitted.give_up();
        }
    }
}

impl WorkerRun {
    /// Warns of a deadline before which the answers of a batch may not arrive.
    pub(super) fn warn_of_early_deadline(&self) {
        let Some(deadline) = self.ctx.deadline().filter(|_| self.settings.is_batch()) else { return };
        let left = deadline.end().saturating_duration_since(Instant::now());
        if left < WITHIN {
            let message = format!(
                "answers of a batch may take a day, and the call ends in {} s; raise its timeout, or unset `batch`",
                left.as_secs()
            );
            self.ctx.warn(&self.model.name, &[SettingWarning::new("batch", message)]);
        }
    }

    /// Submits a request in a batch, and waits for its answer.
    ///
    /// The journal records each submission before its answer is waited for. A resumed run waits for the same batch; if its answer
    /// is a failure, the run was resumed to try again, and the request is submitted once more.
    pub(super) async fn answer_in_batch(
        &self,
        mut batched: BatchedRequest,
        place: &BatchPlace<'_>,
    ) -> Result<Response, CallError> {
        loop {
            let submission = batched.submit();
            let StepOutcome { value: ticket, is_replayed } = self.submit(submission, place).await?;
            let submitted = batched.submitted(ticket).map_err(|source| self.failed(source))?;
            let waiting = WaitingRequest { run: self, place, submitted, is_answered: false };
            let answer = self.wait_for_batch(waiting).await?;
            if is_replayed && answer.is_err() {
                continue;
            }
            match batched.read(answer).await {
                Ok(Some(response)) => return Ok(response),
                Ok(None) => {}
                Err(_) if is_replayed => {}
                Err(source) => return Err(self.failed(source)),
            }
        }
    }

    /// Submits a request, unless the journal has its ticket.
    async fn submit(
        &self,
        submission: impl Future<Output = Result<BatchTicket, ProviderError>> + Send + 'static,
        place: &BatchPlace<'_>,
    ) -> Result<StepOutcome<BatchTicket>, CallError> {
        let worker = self.ctx.name().to_owned();
        let submission = async move { submission.await.map_err(|source| CallError::Model { worker, source }) };
        match place.next_step() {
            Some(step) => self.unless_cancelled(self.ctx.recorded(JournalMethod::Step, step, submission)).await,
            None => Ok(StepOutcome { value: self.unless_cancelled(submission).await?, is_replayed: false }),
        }
    }

    /// Waits for the answer of a request, or the error in its place.
    async fn wait_for_batch(
        &self,
        mut waiting: WaitingRequest<'_>,
    ) -> Result<Result<Vec<u8>, ProviderError>, CallError> {
        let report = |progress: &BatchProgress| {
            let on = progress.to_string();
            self.ctx.emit(|| EventKind::ModelWaiting { on });
        };
        let answer = async { waiting.submitted.wait(&report).await.map_err(|source| self.failed(source)) };
        let answer = self.unless_cancelled(answer).await;
        waiting.is_answered = answer.is_ok();
        answer
    }
}
