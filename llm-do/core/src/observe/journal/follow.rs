//! The journal of a run that another process performs: the content of its log is replayed as the log grows.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;

use super::shared::{SharedReplay, read_replay};
use super::{
    Journal, JournalError, JournalOutcome, LocalOutcome, Promise, PromiseSpec, Record, StepFuture, StepKind, StepSpec,
};

/// The journal of a replay that follows a run in another process. Clones share it.
///
/// A step waits until its record arrives, and never runs here. Only the run itself and calls with steps in the log run
/// here.
#[doc(hidden)]
#[derive(Clone)]
pub struct FollowJournal(Arc<Followed>);

struct Followed {
    replay: SharedReplay,
    /// Notified of each record that arrives.
    grown: watch::Sender<()>,
    /// Returns whether calls with this name may run as separate invocations, whose steps are in another log.
    may_leave: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

impl FollowJournal {
    /// Creates the journal of a run, without records.
    #[doc(hidden)]
    pub fn new(may_leave: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let (replay, grown) = (SharedReplay::default(), watch::Sender::default());
        Self(Arc::new(Followed { replay, grown, may_leave: Box::new(may_leave) }))
    }

    /// Adds the next record of the log. The result of a call whose steps are in the log is ignored, so that the steps
    /// are replayed.
    #[doc(hidden)]
    pub fn add(&self, record: Record) {
        let is_contained = match record.kind {
            // A call that began continues in the other process, and its result arrives. So does a request in a batch.
            StepKind::Result | StepKind::Begun | StepKind::Submitted => true,
            StepKind::Call => self.has_recorded_steps(&record.key),
            _ => false,
        };
        if !is_contained {
            self.0.replay.load(record);
            self.0.grown.send_replace(());
        }
    }

    /// Adds that records were forgotten.
    #[doc(hidden)]
    pub fn add_forgotten(&self, keys: &[Arc<str>]) {
        self.0.replay.lock().forget(keys);
    }

    /// Returns the number of records that were not replayed.
    #[doc(hidden)]
    #[must_use]
    pub fn unused_records(&self) -> usize {
        self.0.replay.lock().remaining()
    }
}

impl Followed {
    /// Waits for the record of a step.
    async fn recorded(&self, step: &StepSpec) -> Result<Value, JournalError> {
        let mut grown = self.grown.subscribe();
        loop {
            grown.mark_unchanged();
            if let Some(value) = self.replay.look_up(step).await? {
                return Ok(value);
            }
            // This cannot fail: the sender is in `self`.
            let _ = grown.changed().await;
        }
    }

    /// Waits until the steps inside a call are in the log.
    async fn has_steps(&self, key: &str) {
        let mut grown = self.grown.subscribe();
        while !self.replay.lock().has_steps_inside(key) {
            let _ = grown.changed().await;
        }
    }

    /// Runs a call that contains steps.
    async fn here(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        Ok(match local.await {
            LocalOutcome::Record(value) => JournalOutcome::Recorded(self.replay.record(Record::new(step, value)?)),
            LocalOutcome::Skip(unrecorded) => JournalOutcome::Unrecorded(unrecorded),
        })
    }

    /// Runs a call that contains steps, unless its record arrives first.
    async fn here_or_recorded(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let mut has_begun = false;
        let here = async {
            has_begun = true;
            self.here(step.clone(), local).await
        };
        let recorded = tokio::select! {
            biased;
            value = self.recorded(&step) => value?,
            outcome = here => return outcome,
        };
        // A call that began here has run like a replay.
        Ok(if has_begun { JournalOutcome::Recorded(recorded) } else { JournalOutcome::Replayed(recorded) })
    }
}

#[async_trait]
impl Journal for FollowJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        match step.kind {
            StepKind::Result => self.0.here(step, local).await,
            // No tool starts here, and no request is submitted.
            StepKind::Begun | StepKind::Submitted => std::future::pending().await,
            _ => self.0.recorded(&step).await.map(JournalOutcome::Replayed),
        }
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if step.is_overlapped() && (self.0.may_leave)(&step.name) {
            tokio::select! {
                biased;
                value = self.0.recorded(&step) => return value.map(JournalOutcome::Replayed),
                () = self.0.has_steps(&step.key) => {}
            }
        }
        self.0.here_or_recorded(step, local).await
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.0.here_or_recorded(step, local).await
    }

    /// Never returns: the other process asks the person, and records the answer.
    async fn promise(&self, _: PromiseSpec) -> Result<Option<Promise>, JournalError> {
        std::future::pending().await
    }

    /// Returns false: what follows a run in another process does not know at which turn a result will join.
    fn allows_background(&self) -> bool {
        false
    }

    read_replay!(self => self.0.replay.lock());
}

impl fmt::Debug for FollowJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowJournal").field("unused_records", &self.unused_records()).finish_non_exhaustive()
    }
}
