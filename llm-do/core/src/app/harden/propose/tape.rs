//! A journal that answers the calls of a script with those of a recorded run: no tool runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::super::paths::{PastCall, PastRun};
use crate::base::agreement::Agreement;
use crate::base::mutex::IgnorePoison;
use crate::observe::journal::{Journal, JournalError, JournalOutcome, LocalOutcome, StepFuture, StepKind, StepSpec};

/// The error of a call that the run has not.
const UNRECORDED: &str = "the recorded run has no such call here";

/// The recorded calls of one run, which answer those of a script. Clones share it.
///
/// Calls that only read are answered in any order between two calls with an effect, and again if they are repeated. Calls with an effect are answered in
/// their order, each once. Any other call is a difference: it fails, as all later calls do, and the run counts as different.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape(Arc<Mutex<Played>>);

/// What is left of the recorded calls, and what a script made of them.
#[derive(Debug, Default)]
struct Played {
    /// The tools that only read.
    reads: Arc<BTreeSet<Arc<str>>>,
    segments: Vec<Segment>,
    /// The segment whose calls are next.
    at: usize,
    difference: Option<Difference>,
    change: Option<Change>,
}

/// Calls that only read, and the call with an effect after them; the last segment has none.
#[derive(Debug, Default)]
struct Segment {
    reads: Vec<Slot>,
    effect: Option<Slot>,
}

/// A recorded call.
#[derive(Debug)]
struct Slot {
    call: PastCall,
    is_made: bool,
}

/// A change of the results of a run, which the script meets in a course that was not recorded.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// The text that is changed; `None` if a call fails.
    pub(super) text: Option<ChangedText>,
    /// A recorded result of each tool: what a call that only reads, and that the run has not, is answered with.
    pub(super) results: Arc<BTreeMap<Arc<str>, Value>>,
}

/// A text in the results in place of another one.
#[derive(Clone, Debug)]
pub(super) struct ChangedText {
    pub(super) to: String,
    pub(super) from: String,
    /// Whether it is unlike all other texts, so that it is found inside of them too.
    pub(super) is_unique: bool,
}

/// A call of a script that the run did not make.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    pub(super) text: String,
    pub(super) may_change: bool,
}

/// How a script followed the calls of a run.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) difference: Option<Difference>,
    /// The last call with an effect that it made, by name.
    pub(super) acted: Option<Arc<str>>,
    /// The first recorded call that it did not make.
    pub(super) missing: Option<String>,
}

impl Tape {
    /// Sets the run that answers the next calls; `reads` are the tools that only read. Its results may be changed.
    pub(super) fn load(&self, run: &PastRun, reads: &Arc<BTreeSet<Arc<str>>>, change: Option<Change>) {
        let mut segments = Vec::new();
        let mut last = Segment::default();
        for call in &run.calls {
            let slot = Slot { call: call.clone(), is_made: false };
            if !reads.contains(&call.name) {
                segments.push(Segment { effect: Some(slot), ..std::mem::take(&mut last) });
            } else if !last.reads.iter().any(|known| known.call.is_same(call)) {
                // A call that reads the same again need not be repeated.
                last.reads.push(slot);
            }
        }
        segments.push(last);
        *self.0.lock().ignore_poison() = Played { reads: Arc::clone(reads), segments, at: 0, difference: None, change };
    }

    /// Returns how the script followed the run.
    pub(super) fn followed(&self) -> Followed {
        let played = self.0.lock().ignore_poison();
        let before = &played.segments[..played.at];
        let acted = before.iter().rev().find_map(|segment| Some(Arc::clone(&segment.effect.as_ref()?.call.name)));
        let mut slots = played.segments.iter().flat_map(|segment| segment.reads.iter().chain(&segment.effect));
        let missing = slots.find(|slot| !slot.is_made).map(|slot| describe(&slot.call.name, &slot.call.arguments));
        Followed { difference: played.difference.clone(), acted, missing }
    }

    /// Returns a value with the text that was changed in the results as it is recorded.
    pub(super) fn as_recorded(&self, value: Value) -> Value {
        self.0.lock().ignore_poison().undone(value)
    }
}

impl ChangedText {
    /// Returns a value with the former text.
    fn undone(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text == self.to => Value::String(self.from.clone()),
            Value::String(text) if self.is_unique => Value::String(text.replace(&self.to, &self.from)),
            Value::Array(items) => items.into_iter().map(|item| self.undone(item)).collect(),
            Value::Object(fields) => fields.into_iter().map(|(name, field)| (name, self.undone(field))).collect(),
            other => other,
        }
    }
}

impl Played {
    /// Returns the answer to a call, as a journal records it: a failure if the run has not recorded it here.
    fn answer(&mut self, name: &Arc<str>, input: &Value) -> Value {
        self.recorded(name, input).unwrap_or_else(|| json!({ "failed": UNRECORDED }))
    }

    fn recorded(&mut self, name: &Arc<str>, input: &Value) -> Option<Value> {
        if self.difference.is_some() {
            return None;
        }
        let input = self.undone(input.clone());
        let exact = Agreement::new();
        let is_it = |slot: &&mut Slot| slot.call.name == *name && exact.holds(&slot.call.arguments, &input);
        if let Some(segment) = self.segments.get_mut(self.at) {
            let is_read = segment.reads.iter_mut().filter(is_it);
            // Of equal reads, each is answered once before one is repeated.
            if let Some(slot) = is_read.min_by_key(|slot| slot.is_made) {
                slot.is_made = true;
                return Some(slot.call.recorded.clone());
            }
            if let Some(slot) = segment.effect.as_mut().filter(is_it) {
                slot.is_made = true;
                self.at += 1;
                return Some(slot.call.recorded.clone());
            }
        }
        if let Some(result) =
            self.change.as_ref().filter(|_| self.reads.contains(name)).and_then(|change| change.results.get(name))
        {
            return Some(result.clone());
        }
        self.difference = Some(self.differing(name, &input));
        None
    }

    /// Returns a value of the script with the text that was changed in the results as it is recorded.
    fn undone(&self, value: Value) -> Value {
        match self.change.as_ref().and_then(|change| change.text.as_ref()) {
            Some(text) => text.undone(value),
            None => value,
        }
    }

    fn differing(&self, name: &Arc<str>, input: &Value) -> Difference {
        let next =
            self.segments.get(self.at).into_iter().flat_map(|segment| segment.reads.iter().chain(&segment.effect));
        let next: Vec<_> =
            next.filter(|slot| !slot.is_made).map(|slot| describe(&slot.call.name, &slot.call.arguments)).collect();
        let next = if next.is_empty() { "no further call".to_owned() } else { next.join(", ") };
        let text = format!("it called {}, and the run has here: {next}", describe(name, input));
        Difference { text, may_change: !self.reads.contains(name) }
    }
}

fn describe(name: &str, arguments: &Value) -> String {
    format!("{name} {arguments}")
}

#[async_trait]
impl Journal for Tape {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        match step.kind {
            StepKind::Tool | StepKind::Call => {
                Ok(JournalOutcome::Replayed(self.0.lock().ignore_poison().answer(&step.name, &step.input)))
            }
            // Of the script's own call, and decisions about calls, which no person makes here.
            StepKind::Run | StepKind::Result | StepKind::Approval => Ok(match local.await {
                LocalOutcome::Record(value) => JournalOutcome::Recorded(value),
                LocalOutcome::Skip(unrecorded) => JournalOutcome::Unrecorded(unrecorded),
            }),
            // A script has no other steps.
            _ => Err(JournalError::Interrupted),
        }
    }

    fn is_replaying(&self) -> bool {
        false
    }
}
