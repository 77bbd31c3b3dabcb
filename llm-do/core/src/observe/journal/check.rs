//! A journal that only replays: it reports the first step at which a recorded run and the code differ.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::Value;

use super::replay::Replay;
use super::shared::SharedReplay;
use super::{Journal, JournalError, JournalOutcome, LocalOutcome, Record, StepFuture, StepKind, StepSpec, key};
use crate::base::mutex::IgnorePoison;

/// Replays recorded runs with the code of this program. Nothing is recorded, and no effect runs.
///
/// Bodies of entries and workers run again. The other calls return their recorded results.
#[derive(Clone)]
#[doc(hidden)]
pub struct ReplayCheck(Arc<RecordedRun>);

struct RecordedRun {
    replay: SharedReplay,
    /// The outcomes of the calls whose bodies run again.
    outcomes: HashMap<Arc<str>, Record>,
    /// Returns whether the body of a call of this name runs again.
    runs_again: Box<dyn Fn(&str) -> bool + Send + Sync>,
    checked: Mutex<Checked>,
}

/// The findings so far.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Checked {
    /// The number of steps that are the same.
    pub same: usize,
    /// The keys of the calls whose outcomes were compared.
    made: HashSet<Arc<str>>,
    /// The first difference, and the key of the call that made it.
    pub difference: Option<(Arc<str>, String)>,
    /// The first step after those that are recorded, if the run had not finished.
    pub next: Option<String>,
}

impl ReplayCheck {
    /// Creates a journal that replays these records.
    pub fn new(
        records: impl IntoIterator<Item = Record>,
        runs_again: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let is_outcome =
            |record: &Record| matches!(record.kind, StepKind::Call | StepKind::Result) && runs_again(&record.name);
        let (outcomes, steps): (Vec<_>, Vec<_>) = records.into_iter().partition(is_outcome);
        let outcomes = outcomes.into_iter().map(|record| (Arc::clone(&record.key), record)).collect();
        let (replay, checked) = (SharedReplay::new(Replay::from_records(steps)), Mutex::default());
        Self(Arc::new(RecordedRun { replay, outcomes, runs_again: Box::new(runs_again), checked }))
    }

    /// Returns the findings since the last call.
    #[must_use]
    pub fn take(&self) -> Checked {
        std::mem::take(&mut *self.0.checked.lock().ignore_poison())
    }
}

impl RecordedRun {
    /// Notes the first difference, in the call of a key.
    fn differs(&self, call: &Arc<str>, error: JournalError) -> JournalError {
        let first = &mut self.checked.lock().ignore_poison().difference;
        first.get_or_insert_with(|| (Arc::clone(call), error.to_string()));
        error
    }

    /// Returns the recorded value of a step; a step that is not recorded ends the check.
    async fn look_up(&self, step: &StepSpec) -> Result<JournalOutcome, JournalError> {
        match self.replay.look_up(step).await {
            Ok(Some(value)) => {
                self.checked.lock().ignore_poison().same += 1;
                Ok(JournalOutcome::Replayed(value))
            }
            Ok(None) if self.has_ended(step) => {
                let place = key::describe_place(&step.parent, step.place);
                let recorded = "no further step".to_owned();
                Err(self.differs(&step.parent, JournalError::Diverged { place, recorded, found: step.to_string() }))
            }
            Ok(None) => {
                self.checked.lock().ignore_poison().next.get_or_insert_with(|| step.to_string());
                Err(JournalError::Interrupted)
            }
            Err(error) => Err(self.differs(&step.parent, error)),
        }
    }

    /// Returns whether the call that makes a step, or a call that contains it, has a recorded result.
    fn has_ended(&self, step: &StepSpec) -> bool {
        let has_result = |key: &str| self.outcomes.get(key).is_some_and(|record| record.value.get("result").is_some());
        let mut calls = std::iter::successors(Some(&*step.parent), |key| key::parent(key));
        calls.any(|call| has_result(call) || has_result(&format!("{call}/result")))
    }

    /// Returns the error of a recorded call of `parent` whose body did not run again.
    fn unmade(&self, parent: &str) -> Option<JournalError> {
        let checked = self.checked.lock().ignore_poison();
        let calls = self.outcomes.values().filter(|record| *record.parent == *parent && !record.overlapped);
        let missing = calls.filter(|record| record.kind == StepKind::Call && !checked.made.contains(&record.key));
        let missing = missing.min_by_key(|record| record.place)?;
        let place = key::describe_place(parent, missing.place);
        let recorded = key::describe(missing.kind, &missing.name, &missing.input);
        Some(JournalError::Diverged { place, recorded, found: format!("the end of `{}`", key::name(parent)) })
    }

    /// Runs a body again, and compares its outcome with what is recorded.
    async fn run_again(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.checked.lock().ignore_poison().made.insert(Arc::clone(&step.key));
        if step.kind == StepKind::Call {
            self.replay.begin(&step);
        }
        let value = match local.await {
            LocalOutcome::Record(value) => value,
            LocalOutcome::Skip(unrecorded) => return Ok(JournalOutcome::Unrecorded(unrecorded)),
        };
        // A run that failed is retried when it is resumed.
        let recorded = self.outcomes.get(&step.key).filter(|recorded| recorded.value.get("result").is_some());
        let Some(recorded) = recorded else { return Ok(JournalOutcome::Recorded(value)) };
        if value.get("result") != recorded.value.get("result") {
            let call = step.call().into();
            let message =
                format!("its outcome is {}, and {} is recorded", outcome_text(&value), outcome_text(&recorded.value));
            return Err(self.differs(&call, JournalError::InvalidValue { step: step.to_string(), message }));
        }
        self.checked.lock().ignore_poison().same += 1;
        Ok(JournalOutcome::Recorded(value))
    }
}

/// Returns the outcome in a record of a call.
fn outcome_text(value: &Value) -> String {
    value.get("result").map_or_else(|| value.to_string(), |result| result["value"].to_string())
}

#[async_trait]
impl Journal for ReplayCheck {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if step.kind == StepKind::Result && (self.0.runs_again)(&step.name) {
            return self.0.run_again(step, local).await;
        }
        self.0.look_up(&step).await
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if (self.0.runs_again)(&step.name) {
            return self.0.run_again(step, local).await;
        }
        self.0.look_up(&step).await
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if self.is_recorded(&step.key) {
            return self.0.look_up(&step).await;
        }
        // Decisions of modes and rules are not recorded, so each process makes them.
        Ok(match local.await {
            LocalOutcome::Record(value) => JournalOutcome::Recorded(value),
            LocalOutcome::Skip(unrecorded) => JournalOutcome::Unrecorded(unrecorded),
        })
    }

    fn is_replaying(&self) -> bool {
        self.0.replay.lock().is_replaying()
    }

    fn is_recorded(&self, key: &str) -> bool {
        self.0.replay.lock().get(key).is_some() || self.0.outcomes.contains_key(key)
    }

    fn has_recorded_steps(&self, key: &str) -> bool {
        self.0.replay.lock().has_steps_inside(key)
    }

    fn has_later_steps(&self, parent: &str) -> bool {
        self.0.replay.lock().has_later_steps(parent)
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        let unused = self.0.replay.lock().unused(parent).or_else(|| self.0.unmade(parent))?;
        Some(self.0.differs(&parent.into(), unused))
    }
}

impl fmt::Debug for ReplayCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayCheck").field("checked", &self.0.checked).finish_non_exhaustive()
    }
}
