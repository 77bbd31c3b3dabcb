//! Notifies the engine and the streams of events of writes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use llm_do_core::base::mutex::IgnorePoison;

/// The change of a write.
#[derive(Clone, Debug)]
pub(super) enum Changed {
    /// Runs may be started, resumed or cancelled.
    Queue,
    /// A run has new events or another state.
    Run(String),
    QueueAndRun(String),
    /// The queue, and any run.
    All,
}

/// The receivers of notifications.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    queue: Arc<watch::Sender<()>>,
    /// The runs that streams follow, so that a write wakes only the streams of its run.
    runs: Arc<Mutex<HashMap<String, watch::Sender<()>>>>,
}

impl Changes {
    /// Returns a receiver that is notified once runs may be started, resumed or cancelled.
    pub(super) fn queue(&self) -> watch::Receiver<()> {
        self.queue.subscribe()
    }

    /// Returns a receiver that is notified once a run has new events or another state.
    pub(super) fn run(&self, run: &str) -> watch::Receiver<()> {
        let mut runs = self.runs.lock().ignore_poison();
        runs.retain(|_, sender| sender.receiver_count() > 0);
        runs.entry(run.to_owned()).or_default().subscribe()
    }

    pub(super) fn notify(&self, changed: &Changed) {
        let notify = |sender: &watch::Sender<()>| sender.send_replace(());
        if !matches!(changed, Changed::Run(_)) {
            self.queue.send_replace(());
        }
        let runs = self.runs.lock().ignore_poison();
        match changed {
            Changed::Queue => {}
            Changed::Run(run) | Changed::QueueAndRun(run) => runs.get(run).into_iter().for_each(notify),
            Changed::All => runs.values().for_each(notify),
        }
    }
}
