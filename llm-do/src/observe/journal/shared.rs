//! What is recorded, shared by the calls of a process, which wait here for one another.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::expected::Missing;
use super::replay::{Replay, Taken};
use super::{JournalError, StepSpec};

/// What is recorded, shared by the calls of a process.
#[derive(Debug, Default)]
pub(super) struct SharedReplay {
    replay: Mutex<Replay>,
    /// Notified whenever a call begins.
    begun: Notify,
}

impl SharedReplay {
    pub(super) fn new(replay: Replay) -> Self {
        Self { replay: Mutex::new(replay), begun: Notify::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Replay> {
        self.replay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the recorded value of a step; none if it has to run.
    ///
    /// Waits while other recorded calls of its parent have yet to begin. Dropped meanwhile, it leaves nothing behind.
    pub(super) async fn take(&self, step: &StepSpec) -> Result<Option<Value>, JournalError> {
        let taken = self.lock().take(step);
        self.begun.notify_waiters();
        match taken? {
            Taken::Recorded(value) => Ok(Some(value)),
            Taken::Run => Ok(None),
            Taken::Wait(missing) => self.wait(step, missing).await,
        }
    }

    async fn wait(&self, step: &StepSpec, mut missing: Missing) -> Result<Option<Value>, JournalError> {
        let mut until = Instant::now() + missing.patience();
        loop {
            let mut begun = pin!(self.begun.notified());
            // Before it looks, so that no call begins unnoticed in between.
            begun.as_mut().enable();
            match self.lock().take(step)? {
                Taken::Recorded(value) => return Ok(Some(value)),
                Taken::Run => return Ok(None),
                Taken::Wait(now) if now != missing => {
                    missing = now;
                    until = Instant::now() + now.patience();
                }
                Taken::Wait(_) => {}
            }
            if timeout_at(until, begun).await.is_err() {
                return self.lock().stop_waiting(step);
            }
        }
    }
}
