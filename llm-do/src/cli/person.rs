//! The person at the terminal, who is asked one thing at a time.

use std::io::{self, IsTerminal, Stderr, StdinLock};
use std::sync::Arc;

use tokio::sync::{Mutex, oneshot};

use super::progress::Progress;

/// The person at the terminal: approves calls, and answers what tools ask. Clones wait for each other.
#[derive(Clone, Debug)]
pub(super) struct Person {
    progress: Progress,
    turn: Arc<Mutex<()>>,
}

impl Person {
    pub(super) fn new(progress: Progress) -> Self {
        Self { progress, turn: Arc::default() }
    }

    /// Returns whether there is a terminal to ask and to answer at.
    pub(super) fn is_there() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Has a dialogue on a thread of its own; an error says why it came to nothing.
    ///
    /// A read of a terminal cannot be stopped, and must not keep the runtime from ending.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        dialogue: impl FnOnce(StdinLock<'static>, Stderr) -> io::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        self.progress.settle().await;
        let (answer, answered) = oneshot::channel();
        std::thread::spawn(move || {
            // The run was cancelled if nobody waits for the answer any more.
            let _ = answer.send(dialogue(io::stdin().lock(), io::stderr()));
            drop(turn);
        });
        match answered.await {
            Ok(answer) => answer.map_err(|error| format!("the terminal cannot be read: {error}")),
            Err(_) => Err("nobody answered".to_owned()),
        }
    }
}
