//! The user at the terminal, who is asked one question at a time.

use async_trait::async_trait;
use llm_do_core::plane::approval::{ApprovalRequest, Approver, Decision};
use llm_do_core::plane::context::CallContext;
use std::io::{self, Write};
use tokio::sync::oneshot;

use super::console::{self, Terminal};
use super::gate::ClosedGate;
use super::keyboard::{Keyboard, Withdrawal};
use super::progress::Progress;
use super::rule_file::RuleFile;
use super::terminal_lock::TerminalLock;

/// The user at the terminal: approves calls and answers questions of tools. Clones share one lock on the terminal.
#[derive(Clone, Debug)]
pub(super) struct TerminalUser {
    progress: Progress,
    terminal: TerminalLock,
    rules: RuleFile,
}

impl TerminalUser {
    pub(super) fn new(progress: Progress, rules: RuleFile) -> Self {
        let terminal = progress.terminal().clone();
        Self { progress, terminal, rules }
    }

    /// Returns the right to read from the terminal.
    pub(super) fn terminal(&self) -> &TerminalLock {
        &self.terminal
    }

    /// Returns the file for rules of the user.
    pub(super) fn rules(&self) -> &RuleFile {
        &self.rules
    }

    /// Returns whether a terminal is available.
    pub(super) fn is_available() -> bool {
        console::is_terminal()
    }

    /// Runs a dialogue on its own thread; an error is the reason why there is no answer.
    ///
    /// No other output is shown until the dialogue finishes or this future is dropped, which withdraws the question.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        dialogue: impl FnOnce(Terminal) -> io::Result<T> + Send + 'static,
    ) -> Result<T, String> {
        let _asking = self.terminal.announce();
        let lock = self.terminal.lock().await;
        self.progress.settle().await;
        let unreadable = |error: io::Error| format!("cannot read from the terminal: {error}");
        let (keyboard, withdrawal) = Keyboard::open().map_err(unreadable)?;
        let mut question = OpenQuestion { is_answered: false, _withdrawal: withdrawal, _closed: self.progress.pause() };
        let (answer, answered) = oneshot::channel();
        let progress = self.progress.clone();
        std::thread::spawn(move || {
            progress.clear_line();
            // Ignored: a withdrawn question has no receiver.
            let _ = answer.send(dialogue(Terminal::new(keyboard)));
            drop(lock);
        });
        let answer = answered.await;
        question.is_answered = true;
        match answer {
            Ok(answer) => answer.map_err(unreadable),
            Err(_) => Err("the question was not answered".to_owned()),
        }
    }
}

/// An approver for runs without a terminal, which leaves every call undecided.
///
/// Journals do not record undecided calls, so the run can be resumed in a terminal.
#[derive(Debug)]
pub(super) struct NoTerminalApprover;

#[async_trait]
impl Approver for NoTerminalApprover {
    async fn review(&self, _: &ApprovalRequest, _: &CallContext) -> Decision {
        Decision::undecided("no terminal to ask the user")
    }
}

/// A question that is open until dropped.
struct OpenQuestion {
    is_answered: bool,
    _withdrawal: Withdrawal,
    _closed: ClosedGate,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        if !self.is_answered {
            // Ends the row of the prompt, since no answer will be typed.
            let _ = io::stderr().write_all(b"\n");
        }
    }
}
