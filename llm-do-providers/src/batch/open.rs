//! A batch that the provider has.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use tokio::sync::{oneshot, watch};

use super::lock;
use crate::batched::{BatchAnswer, BatchProgress};
use crate::error::ProviderError;

/// What is waited for: an answer, or the error of a batch that cannot be looked at.
type Waited = Result<BatchAnswer, ProviderError>;

/// A batch, and who waits for its answers.
pub(super) struct OpenBatch {
    pub(super) id: String,
    requests: u64,
    /// Whether another process submitted it.
    pub(super) is_of_ticket: bool,
    state: Mutex<State>,
    progress: watch::Sender<BatchProgress>,
}

#[derive(Default)]
struct State {
    waiting: HashMap<String, oneshot::Sender<Waited>>,
    given_up: HashSet<String>,
    is_watched: bool,
}

impl OpenBatch {
    pub(super) fn new(progress: BatchProgress, is_of_ticket: bool) -> Self {
        let (id, requests) = (progress.batch.clone(), progress.requests);
        Self { id, requests, is_of_ticket, state: Mutex::default(), progress: watch::Sender::new(progress) }
    }

    /// Returns the receivers of the answer of a request, and of how far the batch is.
    pub(super) fn wait_for(&self, request: &str) -> (oneshot::Receiver<Waited>, watch::Receiver<BatchProgress>) {
        let (sender, answer) = oneshot::channel();
        lock(&self.state).waiting.insert(request.to_owned(), sender);
        let mut progress = self.progress.subscribe();
        // The first report is what is known now.
        progress.mark_changed();
        (answer, progress)
    }

    /// Returns whether the caller has to watch the batch from now on.
    pub(super) fn begin_watch(&self) -> bool {
        !std::mem::replace(&mut lock(&self.state).is_watched, true)
    }

    /// Returns the requests whose answers are waited for; `None` ends the watch.
    pub(super) fn waited_for(&self) -> Option<Vec<String>> {
        let mut state = lock(&self.state);
        state.waiting.retain(|_, waiting| !waiting.is_closed());
        state.is_watched = !state.waiting.is_empty();
        state.is_watched.then(|| state.waiting.keys().cloned().collect())
    }

    /// Passes an answer on, if it is waited for.
    pub(super) fn deliver(&self, request: &str, answer: BatchAnswer) {
        self.send(request, Ok(answer));
    }

    /// Passes the reason on why those of `requests` that have no answer get none.
    pub(super) fn deliver_error(&self, requests: &[String], reason: &ProviderError) {
        for request in requests {
            self.send(request, Ok(Err(reason.copy())));
        }
    }

    /// Fails those of `requests` that have no answer, since the batch cannot be looked at.
    pub(super) fn fail(&self, requests: &[String], error: &ProviderError) {
        for request in requests {
            self.send(request, Err(error.copy()));
        }
    }

    fn send(&self, request: &str, waited: Waited) {
        let waiting = lock(&self.state).waiting.remove(request);
        if let Some(waiting) = waiting {
            drop(waiting.send(waited));
        }
    }

    /// Reports how far the batch is, with each tenth of it.
    pub(super) fn report(&self, ended: u64, requests: u64) {
        let requests = requests.max(self.requests);
        self.progress.send_if_modified(|known| {
            let is_further = tenths(ended, requests) > tenths(known.ended, known.requests);
            (known.ended, known.requests) = (ended, requests);
            is_further
        });
    }

    /// Gives the answer of a request up; returns whether it was the last one.
    pub(super) fn give_up(&self, request: &str) -> bool {
        let mut state = lock(&self.state);
        state.waiting.remove(request);
        let is_new = state.given_up.insert(request.to_owned());
        is_new && state.given_up.len() as u64 >= self.requests
    }
}

fn tenths(ended: u64, requests: u64) -> u64 {
    ended.saturating_mul(10) / requests.max(1)
}
