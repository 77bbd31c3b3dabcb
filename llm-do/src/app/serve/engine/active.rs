//! The runs that this process drives.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;

use crate::base::mutex::IgnorePoison;

/// The runs that this process drives, each with the token that cancels it.
#[derive(Clone, Debug, Default)]
pub(in crate::app::serve) struct ActiveRuns(Arc<Mutex<HashMap<String, CancellationToken>>>);

/// An entry in the list, removed when it is dropped.
#[derive(Debug)]
pub(in crate::app::serve) struct Entered {
    runs: ActiveRuns,
    id: String,
    pub(super) cancellation: CancellationToken,
}

impl ActiveRuns {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.0.lock().ignore_poison()
    }

    pub(in crate::app::serve) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Adds a run; returns `None` if this process drives it already.
    pub(super) fn enter(&self, id: &str) -> Option<Entered> {
        let mut runs = self.lock();
        if runs.contains_key(id) {
            return None;
        }
        let cancellation = CancellationToken::new();
        runs.insert(id.to_owned(), cancellation.clone());
        Some(Entered { runs: self.clone(), id: id.to_owned(), cancellation })
    }

    /// Cancels a run, if this process drives it.
    pub(in crate::app::serve) fn cancel(&self, id: &str) {
        if let Some(token) = self.lock().get(id) {
            token.cancel();
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.runs.lock().remove(&self.id);
    }
}
