//! The person at the terminal, who is asked one thing at a time.

use std::io::{self, Write};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, oneshot};

use super::console::{self, Terminal};
use super::gate::Closed;
use super::keyboard::{Keyboard, Withdrawal};
use super::progress::Progress;
use crate::plane::approval::{ApprovalRequest, Approver, Decision};

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
        console::is_terminal()
    }

    /// Has a dialogue on a thread of its own; an error says why it came to nothing.
    ///
    /// Nothing else is shown until it ends, or until this is dropped, which withdraws the question.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        dialogue: impl FnOnce(Terminal) -> io::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        self.progress.settle().await;
        let unreadable = |error: io::Error| format!("the terminal cannot be read: {error}");
        let (keyboard, withdrawal) = Keyboard::open().map_err(unreadable)?;
        let mut question = Question { is_answered: false, _withdrawal: withdrawal, _closed: self.progress.hold_back() };
        let (answer, answered) = oneshot::channel();
        let progress = self.progress.clone();
        std::thread::spawn(move || {
            progress.make_room();
            // Nobody receives the answer to a question that was withdrawn.
            let _ = answer.send(dialogue(Terminal::new(keyboard)));
            drop(turn);
        });
        let answer = answered.await;
        question.is_answered = true;
        match answer {
            Ok(answer) => answer.map_err(unreadable),
            Err(_) => Err("nobody answered".to_owned()),
        }
    }
}

/// Leaves calls undecided where there is no terminal to ask at.
///
/// No journal records that, so the same run can be resumed where a user can be asked.
#[derive(Debug)]
pub(super) struct NoTerminal;

#[async_trait]
impl Approver for NoTerminal {
    async fn review(&self, _: &ApprovalRequest) -> Decision {
        Decision::undecided("there is no terminal to ask the user at")
    }
}

/// A question that is open until this is dropped.
struct Question {
    is_answered: bool,
    _withdrawal: Withdrawal,
    _closed: Closed,
}

impl Drop for Question {
    fn drop(&mut self) {
        if !self.is_answered {
            // The row of the prompt, at whose end nothing will be typed any more.
            let _ = io::stderr().write_all(b"\n");
        }
    }
}
