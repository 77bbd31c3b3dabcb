//! The runs that this process drives.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::plane::mailbox::{RunMessage, SendError};
use llm_do_core::session::runtime::RunHandle;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::partials::Arrived;

/// The runs that this process drives.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActiveRuns(Arc<Mutex<HashMap<String, ActiveRun>>>);

#[derive(Debug)]
struct ActiveRun {
    /// Cancels the run.
    cancellation: CancellationToken,
    /// The start of the time that is not stored yet.
    since: Instant,
    /// The run, once it is started.
    handle: Option<RunHandle>,
    /// What has arrived of its result, once it is started.
    arrived: Option<watch::Receiver<Arrived>>,
    /// The time that it had waited for people by then.
    waited: Duration,
    /// The numbers of the messages that it has got.
    messages: HashSet<i64>,
}

/// An entry in the list, removed when it is dropped.
#[derive(Debug)]
pub(crate) struct RunSlot {
    runs: ActiveRuns,
    id: String,
    pub(super) cancellation: CancellationToken,
}

impl ActiveRuns {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, ActiveRun>> {
        self.0.lock().ignore_poison()
    }

    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Adds a run; returns `None` if this process drives it already.
    pub(super) fn enter(&self, id: &str) -> Option<RunSlot> {
        let mut runs = self.lock();
        if runs.contains_key(id) {
            return None;
        }
        let cancellation = CancellationToken::new();
        let (since, waited) = (Instant::now(), Duration::ZERO);
        let (handle, arrived, messages) = (None, None, HashSet::new());
        let run = ActiveRun { cancellation: cancellation.clone(), since, handle, arrived, waited, messages };
        runs.insert(id.to_owned(), run);
        Some(RunSlot { runs: self.clone(), id: id.to_owned(), cancellation })
    }

    /// Cancels a run, if this process drives it.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(run) = self.lock().get(id) {
            run.cancellation.cancel();
        }
    }

    /// Returns what arrives of the result of a run; `None` if this process does not drive it, or has not started it yet.
    pub(crate) fn arrived(&self, id: &str) -> Option<watch::Receiver<Arrived>> {
        self.lock().get(id)?.arrived.clone()
    }

    /// Brings a message to a run, once; returns `None` if this process does not drive it, or has not started it yet.
    pub(crate) fn send(&self, id: &str, number: i64, message: RunMessage) -> Option<Result<(), SendError>> {
        self.lock().get_mut(id)?.send(number, message)
    }

    /// Returns how long each run was driven since the last call, or since it was entered, without its waits for people.
    pub(super) fn take_times(&self) -> Vec<(String, Duration)> {
        self.lock().iter_mut().map(|(id, run)| (id.clone(), run.take_time())).collect()
    }
}

impl ActiveRun {
    fn send(&mut self, number: i64, message: RunMessage) -> Option<Result<(), SendError>> {
        let handle = self.handle.as_ref()?;
        Some(if self.messages.insert(number) { handle.deliver(message) } else { Ok(()) })
    }

    fn take_time(&mut self) -> Duration {
        let waited = self.handle.as_ref().map(RunHandle::waited).unwrap_or_default();
        let new_waits = waited.saturating_sub(std::mem::replace(&mut self.waited, waited));
        std::mem::replace(&mut self.since, Instant::now()).elapsed().saturating_sub(new_waits)
    }
}

impl RunSlot {
    /// Adds the started run, whose waits for people do not count.
    pub(super) fn set_handle(&self, handle: RunHandle) {
        if let Some(run) = self.runs.lock().get_mut(&self.id) {
            run.handle = Some(handle);
        }
    }

    /// Adds what arrives of the result.
    pub(super) fn set_arrived(&self, arrived: watch::Receiver<Arrived>) {
        if let Some(run) = self.runs.lock().get_mut(&self.id) {
            run.arrived = Some(arrived);
        }
    }

    /// Brings a message to the run, once.
    pub(super) fn send(&self, number: i64, message: RunMessage) -> Option<Result<(), SendError>> {
        self.runs.send(&self.id, number, message)
    }

    /// Returns how long the run was driven since the last call, or since it was entered, without its waits for people.
    pub(super) fn take_time(&self) -> Duration {
        self.runs.lock().get_mut(&self.id).map(ActiveRun::take_time).unwrap_or_default()
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.id);
    }
}
