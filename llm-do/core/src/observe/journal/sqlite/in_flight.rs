//! The steps of a run that are in flight: whether the run is only waiting, and until when.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use super::super::{StepKind, StepSpec};

/// The steps of a run that are in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight(Arc<watch::Sender<Steps>>);

#[derive(Debug, Default)]
struct Steps {
    /// The number of steps that do work.
    work: usize,
    /// The promises and sleeps in flight, by key; counted once they are stored.
    waits: HashMap<Arc<str>, Option<Timestamp>>,
    /// The calls with steps of their own, by the key that is the parent of these steps.
    calls: HashSet<Arc<str>>,
    /// The number of steps in flight by the key of the call that contains them.
    inside: HashMap<Arc<str>, usize>,
}

/// The activity of a step in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Work,
    Wait,
    /// A call with steps, or a decision with its promise; the steps inside it determine the activity.
    Call,
}

/// A guard: the step counts as in flight until the guard is dropped.
#[derive(Debug)]
pub(super) struct StepInFlight {
    steps: Arc<watch::Sender<Steps>>,
    activity: Activity,
    key: Arc<str>,
    parent: Arc<str>,
}

impl InFlight {
    pub(super) fn begin(&self, step: &StepSpec, activity: Activity) -> StepInFlight {
        // A step that contains the whole run records the result of the run.
        let (activity, key) = match step.kind {
            StepKind::Result => (Activity::Call, step.call().into()),
            _ => (activity, Arc::clone(&step.key)),
        };
        self.enter(activity, key, Arc::clone(&step.parent))
    }

    /// Counts the question of the step with this key as a wait; the step itself only waits while the guard exists.
    pub(super) fn begin_promise(&self, step: &Arc<str>) -> StepInFlight {
        self.enter(Activity::Wait, Arc::clone(step), Arc::clone(step))
    }

    fn enter(&self, activity: Activity, key: Arc<str>, parent: Arc<str>) -> StepInFlight {
        let guard = StepInFlight { steps: Arc::clone(&self.0), activity, key, parent };
        self.0.send_modify(|steps| steps.begin(&guard));
        guard
    }

    /// Waits until the run has only waited for `quiet`; returns the end of the first of its sleeps, if any.
    ///
    /// Code between two steps is not visible here, so it must take less time than `quiet`.
    pub(super) async fn only_waits(&self, quiet: Duration) -> Option<Timestamp> {
        let mut steps = self.0.subscribe();
        loop {
            if steps.borrow_and_update().is_only_waiting() {
                if tokio::time::timeout(quiet, steps.changed()).await.is_err() {
                    return steps.borrow().waits.values().flatten().min().copied();
                }
            } else if steps.changed().await.is_err() {
                // Unreachable: the sender is borrowed.
                return None;
            }
        }
    }
}

impl Steps {
    fn begin(&mut self, step: &StepInFlight) {
        *self.inside.entry(Arc::clone(&step.parent)).or_default() += 1;
        match step.activity {
            Activity::Work => self.work += 1,
            Activity::Wait => drop(self.waits.insert(Arc::clone(&step.key), None)),
            Activity::Call => drop(self.calls.insert(Arc::clone(&step.key))),
        }
    }

    fn end(&mut self, step: &StepInFlight) {
        if let Some(inside) = self.inside.get_mut(&step.parent) {
            *inside -= 1;
            if *inside == 0 {
                self.inside.remove(&step.parent);
            }
        }
        match step.activity {
            Activity::Work => self.work -= 1,
            Activity::Wait => drop(self.waits.remove(&step.key)),
            Activity::Call => drop(self.calls.remove(&step.key)),
        }
    }

    /// Returns whether the run only waits. A call without a step in flight runs its own code.
    fn is_only_waiting(&self) -> bool {
        let waits = |call: &Arc<str>| self.inside.contains_key(call) || self.shares_promise(call);
        self.work == 0 && !self.waits.is_empty() && self.calls.iter().all(waits)
    }

    /// Returns whether an equal decision waits: concurrent equal calls of a caller share the promise of the first call.
    fn shares_promise(&self, decision: &str) -> bool {
        let equal = equal_decisions(decision);
        equal.is_some() && self.waits.keys().any(|wait| equal_decisions(wait) == equal)
    }
}

/// Returns the common part of the keys of decisions about equal calls: the key of the first call, and the part of the
/// call.
fn equal_decisions(key: &str) -> Option<(&str, &str)> {
    let (call, part) = key.rsplit_once('/')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let first = call.rsplit_once('#').filter(|(_, number)| is_number(number)).map_or(call, |(first, _)| first);
    Some((first, part))
}

impl StepInFlight {
    /// Sets the end of the wait.
    pub(super) fn wait_until(&self, time: Timestamp) {
        self.steps.send_modify(|steps| {
            if let Some(wait) = steps.waits.get_mut(&self.key) {
                *wait = Some(time);
            }
        });
    }
}

impl Drop for StepInFlight {
    fn drop(&mut self) {
        self.steps.send_modify(|steps| steps.end(self));
    }
}
