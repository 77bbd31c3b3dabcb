//! The records that are forgotten before a failed run is resumed, so that their steps are retried.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(feature = "serve")]
use serde_json::json;

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
#[doc(hidden)]
#[cfg(feature = "serve")]
pub async fn may_repeat_effects(records: &[Record]) -> bool {
    if !have_begun(records) {
        return false;
    }
    let kept = KeptResults::from_records(records).await;
    let mut begun = records.iter().filter(|record| record.kind == StepKind::Begun).map(Record::call);
    // A call that has happened according to a person does not run again.
    let happened = Settlement::happened(records);
    begun.any(|call| !happened.contains(call) && !kept.contain(call))
}

/// Returns a record without the content that neither [`unknown_calls`] nor [`may_repeat_effects`] reads: the inputs and results of
/// calls, and the answers of models.
#[doc(hidden)]
#[cfg(feature = "serve")]
#[must_use]
pub fn without_content(mut record: Record) -> Record {
    match record.kind {
        // What follows the result of a run has a key with its digest.
        StepKind::Run | StepKind::Result | StepKind::Begun => return record,
        StepKind::Call | StepKind::Tool if record.value.get("result").is_some() => {
            record.value = json!({ "result": { "value": null } });
        }
        StepKind::Model if record.value.get("parts").is_some() => record.value = Value::Null,
        _ => {}
    }
    record.input = Arc::default();
    record
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

#[cfg(all(test, feature = "serve"))]
mod tests {
    use super::*;
    use crate::observe::journal::{LocalOutcome, begun_step};

    fn step(parent: &str, place: u32, kind: StepKind, name: &str) -> StepSpec {
        StepSpec::new(parent, place, kind, name, json!({ "long": "input" }))
    }

    async fn add(journal: &MemoryJournal, step: StepSpec, value: Value) {
        let local = Box::pin(async { LocalOutcome::Record(value) });
        journal.step(step, local).await.map(drop).expect("a journal in memory takes every step");
    }

    /// A run with a call that is done, and one of which nothing is known; `result` is how it ended.
    async fn records(result: Option<Value>) -> Vec<Record> {
        let journal = MemoryJournal::new();
        let run = step("", 0, StepKind::Run, "main");
        let (done, open) = (step(&run.key, 0, StepKind::Tool, "pay"), step(&run.key, 1, StepKind::Tool, "send"));
        add(&journal, run.clone(), json!("01")).await;
        for call in [&done, &open] {
            add(&journal, begun_step(call, 0), json!({ "began": "2026-01-31T12:00:00Z" })).await;
        }
        add(&journal, done, json!({ "result": { "value": "a long result" }, "read": ["a"] })).await;
        add(&journal, step(&run.key, 2, StepKind::Model, "m:1"), json!({ "parts": ["long"] })).await;
        if let Some(result) = result {
            add(&journal, result_step(&run), result).await;
        }
        journal.records()
    }

    #[tokio::test]
    async fn what_is_left_out_of_records_changes_nothing() {
        for result in [None, Some(json!({ "failed": "no" })), Some(json!({ "result": { "value": 1 } }))] {
            let is_open = result.as_ref().is_none_or(|result| result.get("result").is_none());
            let whole = records(result).await;
            let outlines: Vec<_> = whole.iter().cloned().map(without_content).collect();
            let long =
                |records: &[Record]| records.iter().filter(|record| json!(record).to_string().contains("long")).count();
            assert!(long(&outlines) < long(&whole));
            let unknown = unknown_calls(&whole).await;
            assert_eq!(
                unknown.iter().map(|call| &*call.tool).collect::<Vec<_>>(),
                if is_open { vec!["send"] } else { vec![] }
            );
            assert_eq!(unknown_calls(&outlines).await, unknown);
            assert_eq!(may_repeat_effects(&outlines).await, may_repeat_effects(&whole).await);
        }
    }
}
