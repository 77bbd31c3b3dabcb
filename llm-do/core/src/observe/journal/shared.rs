//! The records of a journal, shared by the calls of a process, which wait for recorded calls to begin.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::expected::MissingCalls;
use super::record::Recorded;
use super::replay::{Lookup, Replay};
use super::{JournalError, Record, StepSpec};
use crate::base::mutex::IgnorePoison;

/// The records of a journal, shared by the calls of a process.
#[derive(Debug)]
pub(super) struct SharedReplay<R = Record> {
    replay: Mutex<Replay<R>>,
    /// Notified whenever a call begins.
    begun: Notify,
}

impl Default for SharedReplay {
    fn default() -> Self {
        Self::new(Replay::default())
    }
}

/// Implements the methods of [`Journal`](super::Journal) that only read the records.
macro_rules! read_replay {
    ($self:ident => $replay:expr) => {
        fn is_replaying(&$self) -> bool {
            $replay.is_replaying()
        }

        fn is_recorded(&$self, key: &str) -> bool {
            $replay.get(key).is_some()
        }

        fn has_recorded_steps(&$self, key: &str) -> bool {
            $replay.has_steps_inside(key)
        }

        fn has_later_steps(&$self, parent: &str) -> bool {
            $replay.has_later_steps(parent)
        }

        fn unused(&$self, parent: &str) -> Option<JournalError> {
            $replay.unused(parent)
        }
    };
}
pub(super) use read_replay;

impl SharedReplay {
    /// Adds a record and returns its value, or the value that was recorded under its key in the meantime.
    pub(super) fn record(&self, record: Record) -> Value {
        let mut replay = self.lock();
        if let Some(earlier) = replay.get(&record.key) {
            return earlier.value.clone();
        }
        let value = record.value.clone();
        replay.add(record);
        value
    }
}

impl<R: Recorded> SharedReplay<R> {
    pub(super) fn new(replay: Replay<R>) -> Self {
        Self { replay: Mutex::new(replay), begun: Notify::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Replay<R>> {
        self.replay.lock().ignore_poison()
    }

    /// Loads a record of another process, and wakes all waiting lookups.
    #[cfg(feature = "restate")]
    pub(super) fn load(&self, record: R) {
        self.lock().load(record);
        self.begun.notify_waiters();
    }

    /// Records that a step has begun that is not looked up.
    pub(super) fn begin(&self, step: &StepSpec) {
        self.lock().begin(step);
        self.begun.notify_waiters();
    }

    /// Returns the recorded value of a step, or `None` if the step has to run.
    ///
    /// Waits while other recorded calls of the same parent have not begun. Cancel safe.
    pub(super) async fn look_up(&self, step: &StepSpec) -> Result<Option<R::Value>, JournalError> {
        let found = self.lock().look_up(step);
        self.begun.notify_waiters();
        match found? {
            Lookup::Recorded(value) => Ok(Some(value)),
            Lookup::Run => Ok(None),
            Lookup::Wait(missing) => self.wait(step, missing).await,
        }
    }

    async fn wait(&self, step: &StepSpec, mut missing: MissingCalls) -> Result<Option<R::Value>, JournalError> {
        let mut deadline = Instant::now() + missing.timeout();
        loop {
            let mut begun = pin!(self.begun.notified());
            // Registered before the lookup, so that no call that begins in between is missed.
            begun.as_mut().enable();
            match self.lock().look_up(step)? {
                Lookup::Recorded(value) => return Ok(Some(value)),
                Lookup::Run => return Ok(None),
                Lookup::Wait(now) if now != missing => {
                    missing = now;
                    deadline = Instant::now() + now.timeout();
                }
                Lookup::Wait(_) => {}
            }
            if timeout_at(deadline, begun).await.is_err() {
                return self.lock().stop_waiting(step);
            }
        }
    }
}
