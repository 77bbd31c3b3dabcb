//! A journal in memory.

use std::fmt;
use std::sync::{Arc, MutexGuard};

use async_trait::async_trait;
use serde_json::Value;

use super::replay::Replay;
use super::shared::{SharedReplay, read_replay};
use super::{Journal, JournalError, JournalOutcome, LocalOutcome, Record, Settlement, StepFuture, StepSpec};

/// A journal in memory: for tests, and for replaying the records of another journal.
///
/// Clones share their records.
#[derive(Clone, Default)]
pub struct MemoryJournal(Arc<SharedReplay>);

impl MemoryJournal {
    /// Creates an empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a journal that replays `records`; of two records with the same key, the first is used.
    #[must_use]
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Self {
        Self(Arc::new(SharedReplay::new(Replay::from_records(records))))
    }

    /// Returns the records in the order in which the steps ended.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.replay().records().cloned().collect()
    }

    /// Returns a copy as a new process would load it: with all records so far, and no record replayed.
    #[must_use]
    pub fn replayed(&self) -> Self {
        Self(Arc::new(SharedReplay::new(self.replay().restarted())))
    }

    /// Settles the outcome of a call if it is unknown, by the key of its step; the run can then be resumed.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::InvalidValue`] if no call with this key began, or it is already settled.
    pub fn settle(&self, step: &str, settlement: &Settlement) -> Result<(), JournalError> {
        let (record, used_up) = settlement.record(&self.records(), step)?;
        self.replay().forget(&used_up);
        self.0.record(record);
        Ok(())
    }

    fn replay(&self) -> MutexGuard<'_, Replay> {
        self.0.lock()
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if let Some(value) = self.0.look_up(&step).await? {
            return Ok(JournalOutcome::Replayed(value));
        }
        match local.await {
            LocalOutcome::Record(value) => Ok(JournalOutcome::Recorded(self.0.record(Record::new(step, value)?))),
            LocalOutcome::Skip(unrecorded) => Ok(JournalOutcome::Unrecorded(unrecorded)),
        }
    }

    async fn recorded(&self, key: &str) -> Option<Value> {
        self.replay().get(key).map(|record| record.value.clone())
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.replay().forget(&keys);
        Ok(())
    }

    read_replay!(self => self.replay());
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryJournal").field("records", &self.replay().records().count()).finish()
    }
}
