//! Where the answers of runs in batches will be, so that a resumed evaluation waits for the same batches.

use std::sync::Arc;

use async_trait::async_trait;
use llm_do_core::observe::journal::{
    Journal, JournalError, JournalOutcome, LocalOutcome, StepFuture, StepKind, StepSpec,
};
use serde_json::Value;

use super::record::RunFile;

/// A journal that records only submissions of requests to batches, in the file of the evaluation. All else runs again.
#[derive(Debug)]
pub(super) struct Submissions {
    /// The key of the run.
    pub(super) run: String,
    pub(super) file: Arc<RunFile>,
}

impl Submissions {
    fn record(&self, step: &StepSpec, value: &Value) -> Result<(), JournalError> {
        let added = self.file.add_submitted(&self.run, &step.key, value);
        added.map_err(|source| JournalError::Io { path: self.file.path.clone(), source })
    }
}

#[async_trait]
impl Journal for Submissions {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let is_submission = step.kind == StepKind::Submitted;
        if is_submission && let Some(value) = self.file.submitted(&self.run, &step.key) {
            return Ok(JournalOutcome::Replayed(value.clone()));
        }
        match local.await {
            LocalOutcome::Record(value) => {
                if is_submission {
                    self.record(&step, &value)?;
                }
                Ok(JournalOutcome::Recorded(value))
            }
            LocalOutcome::Skip(unrecorded) => Ok(JournalOutcome::Unrecorded(unrecorded)),
        }
    }

    fn is_replaying(&self) -> bool {
        false
    }
}
