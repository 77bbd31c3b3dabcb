//! What is forgotten before a failed run is resumed, so that it is tried again.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_record::{CallRecord, RecordedOutcome, digest_of};
use super::result_step;
use crate::observe::journal::{Journal, JournalError, StepKind, StepSpec};
use crate::plane::context::CallContext;

/// The outcome of a run after the guards of its root call; the call's own result is recorded before they run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AfterGuards {
    pub(super) has_failed: bool,
    /// The keys of the failures inside the guards that caused it.
    #[serde(rename = "because", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) causes: Vec<Arc<str>>,
}

/// The name of the step that records [`AfterGuards`].
pub(super) const AFTER_GUARDS: &str = "after guards";

/// Removes a run's recorded error and its causes from the journal, so that they are retried.
pub(in crate::plane::dispatch) async fn retry(journal: &dyn Journal, run: &StepSpec) -> Result<(), JournalError> {
    let result = result_step(run).key;
    let Some(record) = recorded::<CallRecord>(journal, &result).await else { return Ok(()) };
    let is_failure = matches!(record.outcome, RecordedOutcome::Failure(_));
    let parent = CallContext::key_after(&run.key, &digest_of(&record));
    let end = StepSpec::new(parent, 0, StepKind::Effect, AFTER_GUARDS, Value::Null).key;
    let guarded = recorded::<AfterGuards>(journal, &end).await;
    if !guarded.as_ref().map_or(is_failure, |guarded| guarded.has_failed) {
        return Ok(());
    }
    let mut keys = Vec::new();
    if is_failure {
        keys.push(result);
    }
    if let Some(guarded) = guarded {
        keys.push(end);
        keys.extend(forgettable(journal, guarded.causes).await);
    }
    let keys = with_causes(journal, keys).await;
    journal.forget(keys).await
}

/// Adds the keys of the failures that caused the given ones, transitively.
pub(super) async fn with_causes(journal: &dyn Journal, mut keys: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let mut next = 0;
    while let Some(key) = keys.get(next) {
        // Steps other than calls have no nested steps.
        let causes = recorded::<CallRecord>(journal, key).await.map(|record| record.causes).unwrap_or_default();
        next += 1;
        keys.extend(forgettable(journal, causes).await);
    }
    keys
}

async fn recorded<T: DeserializeOwned>(journal: &dyn Journal, key: &str) -> Option<T> {
    serde_json::from_value(journal.recorded(key).await?).ok()
}

/// Returns the keys whose records may be removed.
pub(super) async fn forgettable(journal: &dyn Journal, keys: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let mut kept = Vec::new();
    for key in keys {
        if may_be_forgotten(journal, &key).await {
            kept.push(key);
        }
    }
    kept
}

/// Returns whether the record under a key may be removed: any record but that of a successful call, which must not run again.
async fn may_be_forgotten(journal: &dyn Journal, key: &str) -> bool {
    let recorded = journal.recorded(key).await;
    recorded.is_some_and(|value| {
        !matches!(serde_json::from_value(value), Ok(CallRecord { outcome: RecordedOutcome::Result { .. }, .. }))
    })
}
