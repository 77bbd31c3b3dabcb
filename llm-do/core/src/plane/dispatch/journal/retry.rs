//! The records that are forgotten before a failed run is resumed, so that their steps are retried.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_record::{CallRecord, RecordedOutcome, digest_of};
use super::result_step;
#[cfg(feature = "serve")]
use crate::observe::journal::Settlement;
use crate::observe::journal::{Journal, JournalError, MemoryJournal, Record, StepKind, StepSpec, UnknownCall};
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
    let keys = retried(journal, run).await;
    if keys.is_empty() { Ok(()) } else { journal.forget(keys).await }
}

/// Returns whether a resumed run would repeat calls that began and may have had their effect.
#[cfg(feature = "serve")]
pub(crate) async fn may_repeat_effects(records: &[Record]) -> bool {
    if !have_begun(records) {
        return false;
    }
    let kept = KeptResults::from_records(records).await;
    let mut begun = records.iter().filter(|record| record.kind == StepKind::Begun).map(Record::call);
    // A call that has happened according to a person does not run again.
    let happened = Settlement::happened(records);
    begun.any(|call| !happened.contains(call) && !kept.contain(call))
}

/// Lists the calls that began and whose outcome would be unknown if the run were resumed.
#[doc(hidden)]
pub async fn unknown_calls(records: &[Record]) -> Vec<UnknownCall> {
    if !have_begun(records) {
        return Vec::new();
    }
    let kept = KeptResults::from_records(records).await;
    UnknownCall::list(records, |call| kept.contain(call))
}

/// Returns whether a call in the records may have had an effect that must not be made twice.
fn have_begun(records: &[Record]) -> bool {
    records.iter().any(|record| record.kind == StepKind::Begun)
}

/// The results of a run that are kept when it is resumed.
struct KeptResults {
    journal: MemoryJournal,
    /// The keys of the runs, each with the key of its result.
    runs: HashMap<Arc<str>, Arc<str>>,
    /// The keys of the results that are retried.
    retried: HashSet<Arc<str>>,
}

impl KeptResults {
    async fn from_records(records: &[Record]) -> Self {
        let journal = MemoryJournal::from_records(records.iter().cloned());
        let (mut runs, mut all) = (HashMap::new(), HashSet::new());
        for run in records.iter().filter(|record| record.kind == StepKind::Run) {
            let (parent, name, input) = (Arc::clone(&run.parent), Arc::clone(&run.name), Arc::clone(&run.input));
            let run = StepSpec::new(parent, run.place, run.kind, name, input);
            all.extend(retried(&journal, &run).await);
            runs.insert(Arc::clone(&run.key), result_step(&run).key);
        }
        Self { journal, runs, retried: all }
    }

    /// Returns whether the result of a call, or of a call that contains it, is kept, so that it does not run again.
    fn contain(&self, call: &str) -> bool {
        let result = |call: &str| self.runs.get(call).map_or_else(|| call.into(), Arc::clone);
        let is_kept = |key: Arc<str>| self.journal.is_recorded(&key) && !self.retried.contains(&key);
        let calls = std::iter::successors(Some(call), |call| call.rsplit_once('/').map(|(outer, _)| outer));
        calls.map(result).any(is_kept)
    }
}

/// Returns the keys of a run's recorded error and its causes, which are retried; empty if the run did not fail.
async fn retried(journal: &dyn Journal, run: &StepSpec) -> Vec<Arc<str>> {
    let result = result_step(run).key;
    let Some(record) = recorded::<CallRecord>(journal, &result).await else { return Vec::new() };
    let is_failure = matches!(record.outcome, RecordedOutcome::Failure(_));
    let parent = CallContext::key_after(&run.key, &digest_of(&record));
    let end = StepSpec::new(parent, 0, StepKind::Effect, AFTER_GUARDS, Value::Null).key;
    let guarded = recorded::<AfterGuards>(journal, &end).await;
    if !guarded.as_ref().map_or(is_failure, |guarded| guarded.has_failed) {
        return Vec::new();
    }
    let mut keys = Vec::new();
    if is_failure {
        keys.push(result);
    }
    if let Some(guarded) = guarded {
        keys.push(end);
        keys.extend(forgettable(journal, guarded.causes).await);
    }
    with_causes(journal, keys).await
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

/// Returns whether the record of a key may be removed: any record except that of a successful call, which must not run
/// again.
async fn may_be_forgotten(journal: &dyn Journal, key: &str) -> bool {
    let recorded = journal.recorded(key).await;
    recorded.is_some_and(|value| {
        !matches!(serde_json::from_value(value), Ok(CallRecord { outcome: RecordedOutcome::Result { .. }, .. }))
    })
}
