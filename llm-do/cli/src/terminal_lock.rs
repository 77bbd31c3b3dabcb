//! Who reads from the terminal: one at a time, and questions before what only listens.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, watch};

/// The right to read from the terminal. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct TerminalLock {
    reader: Arc<Mutex<()>>,
    /// The number of questions that are open or wait for the terminal.
    questions: Arc<watch::Sender<usize>>,
}

/// A guard: a question is open, or waits for the terminal.
#[derive(Debug)]
pub(super) struct Asking(Arc<watch::Sender<usize>>);

impl TerminalLock {
    /// Announces a question, so that what listens gives way to it.
    pub(super) fn announce(&self) -> Asking {
        self.questions.send_modify(|questions| *questions += 1);
        Asking(Arc::clone(&self.questions))
    }

    /// Waits until nothing else reads from the terminal.
    pub(super) async fn lock(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.reader).lock_owned().await
    }

    /// Waits until a question needs the terminal, or until none does.
    pub(super) async fn wait(&self, has_question: bool) {
        // An error means that no sender is left, but this is one.
        let _ = self.questions.subscribe().wait_for(|questions| (*questions > 0) == has_question).await;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.send_modify(|questions| *questions -= 1);
    }
}
