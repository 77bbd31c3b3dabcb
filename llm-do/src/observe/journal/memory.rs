//! A journal that lasts as long as the process.

use std::fmt;
use std::sync::{Arc, MutexGuard};

use async_trait::async_trait;
use serde_json::Value;

use super::replay::Replay;
use super::shared::SharedReplay;
use super::{Journal, JournalError, Record, StepFuture, StepSpec};

/// A journal that lasts as long as the process: for tests, and for replaying what another journal recorded.
///
/// Clones share what they record.
#[derive(Clone, Default)]
pub struct MemoryJournal(Arc<SharedReplay>);

impl MemoryJournal {
    /// Returns a journal in which nothing is recorded.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a journal that replays `records`; of two with one key, the first.
    #[must_use]
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Self {
        Self(Arc::new(SharedReplay::new(Replay::of(records))))
    }

    /// Returns what is recorded, in the order in which it ended.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        self.replay().records().cloned().collect()
    }

    /// Returns the journal as a second process would find it: with all that is recorded so far, and nothing come to.
    #[must_use]
    pub fn replayed(&self) -> Self {
        Self(Arc::new(SharedReplay::new(self.replay().again())))
    }

    fn replay(&self) -> MutexGuard<'_, Replay> {
        self.0.lock()
    }

    /// Records what a step came to, and returns it, or what was recorded under its key meanwhile.
    fn record(&self, record: Record) -> Value {
        let mut replay = self.replay();
        if let Some(earlier) = replay.get(&record.key) {
            return earlier.value.clone();
        }
        let value = record.value.clone();
        replay.add(record);
        value
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        if let Some(value) = self.0.take(&step).await? {
            return Ok(value);
        }
        let value = local.await?;
        Ok(self.record(Record::new(step, value)?))
    }

    fn is_replaying(&self) -> bool {
        self.replay().is_replaying()
    }

    fn is_recorded(&self, key: &str) -> bool {
        self.replay().get(key).is_some()
    }

    fn recorded(&self, key: &str) -> Option<Value> {
        self.replay().get(key).map(|record| record.value.clone())
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.replay().forget(&keys);
        Ok(())
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        self.replay().unused(parent)
    }
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryJournal").field("records", &self.replay().records().count()).finish()
    }
}
