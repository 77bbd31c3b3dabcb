//! A journal that replays a run in which a model, a prompt or a tool has changed, up to the first call that differs.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use super::{Journal, JournalError, JournalOutcome, LocalOutcome, Record, StepFuture, StepKind, StepSpec, key};
use crate::base::mutex::IgnorePoison;

/// Replays a recorded run, or a recorded call as a run, with a change. Nothing is recorded, and no tool runs.
///
/// Bodies of entries and workers run again. Requests to models that are not recorded in the same form are made; all other steps return
/// what is recorded. The first step that is not recorded ends the run, as does the first result that differs, and the end of a call with
/// a recorded call that was not made.
#[derive(Clone)]
#[doc(hidden)]
pub struct ChangedReplay(Arc<RecordedCall>);

/// A recorded call with its steps. Keys are relative to the key of the call.
struct RecordedCall {
    steps: HashMap<String, Record>,
    /// The keys of the calls that each call made, in their order.
    made_by: HashMap<String, Vec<String>>,
    /// The key of the run that replays the call.
    root: OnceLock<Arc<str>>,
    rules: ReplayRules,
    found: Mutex<Replayed>,
}

/// What runs again, and what counts as the same.
#[doc(hidden)]
pub struct ReplayRules {
    /// Returns whether the body of a call of this name runs again.
    pub runs_again: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Returns whether a result agrees with the recorded one.
    pub agrees: Box<dyn Fn(&Value, &Value) -> bool + Send + Sync>,
    /// Returns whether another request may be made.
    pub may_ask: Box<dyn Fn() -> bool + Send + Sync>,
    /// Returns whether a recorded call of this name may be omitted.
    pub may_omit: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Is called with the model and the usage of each request that was made.
    pub asked: Box<dyn Fn(&Arc<str>, &Value) + Send + Sync>,
}

/// The findings of a replay.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Replayed {
    /// The number of calls that are the same.
    pub same: u64,
    /// The first difference.
    pub difference: Option<Difference>,
    /// Whether a request was not made, since no further one may be.
    pub is_stopped: bool,
    made: HashSet<String>,
}

/// The first difference of a replay.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// The name of the item that made or omitted the call, or whose result differs.
    pub place: String,
    /// What was done, if anything, and what is recorded.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[doc(hidden)]
pub enum DifferenceKind {
    /// A call that is not recorded was made.
    Call,
    /// A recorded call was not made.
    Missing,
    /// A result differs.
    Result,
}

impl ChangedReplay {
    /// Creates a journal that replays the run in these records; `None` without a run.
    #[must_use]
    pub fn of_run(records: &[Record], rules: ReplayRules) -> Option<Self> {
        let run = records.iter().find(|record| record.kind == StepKind::Run)?;
        Some(Self::new(records, &run.key, None, rules))
    }

    /// Creates a journal that replays a recorded call, which has ended, as a run of another item.
    #[must_use]
    pub fn of_call(records: &[Record], call: &Record, rules: ReplayRules) -> Self {
        let (key, outcome) = match call.kind {
            StepKind::Result => (call.call(), None),
            _ => (&*call.key, Some(call)),
        };
        Self::new(records, key, outcome, rules)
    }

    fn new(records: &[Record], call: &str, outcome: Option<&Record>, rules: ReplayRules) -> Self {
        let (mut steps, mut made_by): (HashMap<_, _>, HashMap<String, Vec<_>>) = (HashMap::new(), HashMap::new());
        for record in records {
            let Some(key) = inside(&record.key, call) else { continue };
            if matches!(record.kind, StepKind::Tool | StepKind::Call)
                && let Some(parent) = inside(&record.parent, call)
            {
                made_by.entry(parent.to_owned()).or_default().push(key.to_owned());
            }
            steps.entry(key.to_owned()).or_insert_with(|| record.clone());
        }
        if let Some(outcome) = outcome {
            steps.remove("");
            steps.insert(RESULT.to_owned(), outcome.clone());
        }
        let (root, found) = (OnceLock::new(), Mutex::default());
        Self(Arc::new(RecordedCall { steps, made_by, root, rules, found }))
    }

    /// Returns the findings since the last call.
    #[must_use]
    pub fn take(&self) -> Replayed {
        std::mem::take(&mut *self.0.found.lock().ignore_poison())
    }
}

/// The key of the result of a run, relative to the key of the run.
const RESULT: &str = "/result";

/// Returns the rest of a key that is inside of a call.
fn inside<'k>(key: &'k str, call: &str) -> Option<&'k str> {
    key.strip_prefix(call).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl RecordedCall {
    /// Returns the key relative to that of the run.
    fn relative<'k>(&self, key: &'k str) -> Option<&'k str> {
        inside(key, self.root.get()?)
    }

    fn recorded(&self, key: &str) -> Option<&Record> {
        self.steps.get(self.relative(key)?)
    }

    /// Notes the first difference. The run ends, so that it makes no further request.
    fn differs(&self, kind: DifferenceKind, place: &str, text: String) -> JournalError {
        let place = key::name(place);
        let first = &mut self.found.lock().ignore_poison().difference;
        first.get_or_insert_with(|| Difference { kind, place, text });
        JournalError::Interrupted
    }

    fn has_ended(&self) -> bool {
        let found = self.found.lock().ignore_poison();
        found.difference.is_some() || found.is_stopped
    }

    fn make(&self, step: &StepSpec) {
        if let Some(key) = self.relative(&step.key) {
            let mut found = self.found.lock().ignore_poison();
            let is_call = matches!(step.kind, StepKind::Tool | StepKind::Call);
            let is_new = found.made.insert(key.to_owned());
            found.same += u64::from(is_new && is_call);
        }
    }

    /// Returns what is recorded of a step.
    fn look_up(&self, step: &StepSpec) -> Result<JournalOutcome, JournalError> {
        // A digest in a key may stand for two inputs.
        if let Some(record) = self.recorded(&step.key).filter(|record| *record.input == *step.input) {
            self.make(step);
            return Ok(JournalOutcome::Replayed(record.value.clone()));
        }
        Err(self.unrecorded(step))
    }

    /// Returns the error of a step that is not recorded.
    fn unrecorded(&self, step: &StepSpec) -> JournalError {
        let kind = if step.kind == StepKind::Approval { StepKind::Call } else { step.kind };
        let made = format!("{} `{}` with {}", kind.as_str(), step.name, step.input);
        let next = self.next(&step.parent).map_or_else(
            || "no further call is recorded".to_owned(),
            |record| format!("`{}` with {} is recorded", record.name, record.input),
        );
        self.differs(DifferenceKind::Call, &step.parent, format!("{made} was made; {next}"))
    }

    /// Returns the recorded calls of a parent that were not made, in their order.
    fn missing(&self, parent: &str) -> Vec<&Record> {
        let calls = self.relative(parent).and_then(|parent| self.made_by.get(parent));
        let found = self.found.lock().ignore_poison();
        let missing = calls.into_iter().flatten().filter(|key| !found.made.contains(*key));
        let mut missing: Vec<_> = missing.filter_map(|key| self.steps.get(key)).collect();
        missing.sort_by_key(|record| record.place);
        missing
    }

    /// Returns the first recorded call of a parent that was not made.
    fn next(&self, parent: &str) -> Option<&Record> {
        self.missing(parent).into_iter().next()
    }

    /// Makes a request, unless it is recorded in the same form.
    async fn ask(&self, step: &StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if let Some(record) = self.recorded(&step.key).filter(|record| *record.input == *step.input) {
            return Ok(JournalOutcome::Replayed(record.value.clone()));
        }
        if !(self.rules.may_ask)() {
            self.found.lock().ignore_poison().is_stopped = true;
            return Err(JournalError::Interrupted);
        }
        let outcome = outcome(local).await;
        if let (StepKind::Model, JournalOutcome::Recorded(answer)) = (step.kind, &outcome) {
            (self.rules.asked)(&step.name, &answer["usage"]);
        }
        Ok(outcome)
    }

    /// Runs a body again, and compares its result with the recorded one, which its caller gets.
    async fn run_again(&self, step: &StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let recorded = self.recorded(&step.key);
        if recorded.is_none() && step.kind == StepKind::Call {
            return Err(self.unrecorded(step));
        }
        self.make(step);
        let value = match outcome(local).await {
            JournalOutcome::Recorded(value) => value,
            other => return Ok(other),
        };
        // A failure is retried when a run is resumed.
        let Some(recorded) = recorded.filter(|record| record.value.get("result").is_some()) else {
            return Ok(JournalOutcome::Recorded(value));
        };
        let agrees = value
            .get("result")
            .is_some_and(|result| (self.rules.agrees)(&recorded.value["result"]["value"], &result["value"]));
        if agrees {
            return Ok(JournalOutcome::Recorded(recorded.value.clone()));
        }
        let text = format!("the result is {}; {} is recorded", shown(&value), shown(&recorded.value));
        Err(self.differs(DifferenceKind::Result, step.call(), text))
    }
}

/// Runs the local future of a step.
async fn outcome(local: StepFuture) -> JournalOutcome {
    match local.await {
        LocalOutcome::Record(value) => JournalOutcome::Recorded(value),
        LocalOutcome::Skip(unrecorded) => JournalOutcome::Unrecorded(unrecorded),
    }
}

/// Returns the result in the record of a call, or the failure.
fn shown(value: &Value) -> String {
    value.get("result").map_or_else(|| value.to_string(), |result| result["value"].to_string())
}

#[async_trait]
impl Journal for ChangedReplay {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let call = &self.0;
        if call.has_ended() {
            return Err(JournalError::Interrupted);
        }
        match step.kind {
            StepKind::Run => {
                // Another run in the same journal has no records.
                let _ = call.root.set(Arc::clone(&step.key));
                Ok(outcome(local).await)
            }
            StepKind::Model | StepKind::Submitted => call.ask(&step, local).await,
            StepKind::Result if (call.rules.runs_again)(&step.name) => call.run_again(&step, local).await,
            _ => call.look_up(&step),
        }
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let call = &self.0;
        if call.has_ended() {
            return Err(JournalError::Interrupted);
        }
        if (call.rules.runs_again)(&step.name) { call.run_again(&step, local).await } else { call.look_up(&step) }
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let call = &self.0;
        if call.has_ended() {
            return Err(JournalError::Interrupted);
        }
        if self.is_recorded(&step.key) || !self.is_recorded(step.call()) {
            return call.look_up(&step);
        }
        // Decisions of modes and rules are not recorded, so each process makes them.
        Ok(outcome(local).await)
    }

    fn is_replaying(&self) -> bool {
        false
    }

    fn is_recorded(&self, key: &str) -> bool {
        // A run that has ended runs again.
        let is_kept = |key: &str| key.is_empty() || (key != RESULT && self.0.steps.contains_key(key));
        self.0.relative(key).is_some_and(is_kept)
    }

    fn has_later_steps(&self, parent: &str) -> bool {
        self.0.next(parent).is_some()
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        let may_be_missing = |record: &Record| record.overlapped || (self.0.rules.may_omit)(&record.name);
        let missing = self.0.missing(parent).into_iter().find(|record| !may_be_missing(record))?;
        let text = format!("`{}` with {} is recorded, and was not called", missing.name, missing.input);
        Some(self.0.differs(DifferenceKind::Missing, parent, text))
    }
}

impl fmt::Debug for ChangedReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangedReplay").field("found", &self.0.found).finish_non_exhaustive()
    }
}

impl fmt::Debug for ReplayRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayRules").finish_non_exhaustive()
    }
}
