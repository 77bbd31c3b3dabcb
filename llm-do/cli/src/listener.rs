//! What the user types at the terminal while a run runs and no question is open.

use std::io;

use tokio::sync::oneshot::error::RecvError;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::console::Terminal;
use super::keyboard::{Keyboard, Withdrawal};
use super::terminal_lock::TerminalLock;

/// What was read from the terminal; `None` at the end of the input.
type Typed = io::Result<Option<String>>;

/// Reads from the terminal until it is [stopped](Self::stop).
#[derive(Debug)]
pub(super) struct Listener {
    typed: mpsc::UnboundedReceiver<String>,
    stop: CancellationToken,
    task: AbortOnDropHandle<()>,
}

impl Listener {
    /// Begins to listen; `None` where a read cannot be cancelled, since it would take the answer to a question.
    pub(super) fn start(terminal: TerminalLock) -> Option<Self> {
        if !Keyboard::CAN_BE_WITHDRAWN {
            return None;
        }
        let (sender, typed) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        let task = AbortOnDropHandle::new(tokio::spawn(listen(terminal, sender, stop.clone())));
        Some(Self { typed, stop, task })
    }

    /// Returns what the user types next; never returns at the end of the input.
    pub(super) async fn next(&mut self) -> String {
        match self.typed.recv().await {
            Some(text) => text,
            None => std::future::pending().await,
        }
    }

    /// Stops listening; returns what was typed and not [read](Self::next).
    pub(super) async fn stop(mut self) -> Vec<String> {
        self.stop.cancel();
        // An error means that the task panicked, which is shown.
        let _ = self.task.await;
        std::iter::from_fn(|| self.typed.try_recv().ok()).collect()
    }
}

async fn listen(terminal: TerminalLock, typed: mpsc::UnboundedSender<String>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let lock = async {
            terminal.wait(false).await;
            terminal.lock().await
        };
        let lock = tokio::select! {
            lock = lock => lock,
            () = stop.cancelled() => return,
        };
        let Ok((keyboard, withdrawal)) = Keyboard::open() else { return };
        let (sender, mut read) = oneshot::channel();
        std::thread::spawn(move || {
            // Ignored: the receiver is dropped only with its task.
            let _ = sender.send(Terminal::new(keyboard).typed());
            drop(lock);
        });
        let (text, is_withdrawn) = tokio::select! {
            text = &mut read => (text, false),
            () = terminal.wait(true) => (withdrawn(withdrawal, read).await, true),
            () = stop.cancelled() => (withdrawn(withdrawal, read).await, true),
        };
        match text {
            Ok(Ok(Some(text))) => drop(typed.send(text)),
            Ok(Err(_)) if is_withdrawn => {}
            Ok(Ok(None) | Err(_)) | Err(_) => return,
        }
    }
}

/// Ends a read; returns a text that is complete.
async fn withdrawn(withdrawal: Withdrawal, read: oneshot::Receiver<Typed>) -> Result<Typed, RecvError> {
    drop(withdrawal);
    read.await
}
