//! Approval by the person at the terminal.

use std::io::{self, IsTerminal, Write};

use async_trait::async_trait;
use tokio::sync::oneshot;

use super::progress::Progress;
use crate::approval::{ApprovalRequest, Approver, Decision};
use crate::event::printable;

/// Asks at the terminal.
#[derive(Debug)]
pub(super) struct AtTerminal {
    progress: Progress,
}

impl AtTerminal {
    pub(super) fn new(progress: Progress) -> Self {
        Self { progress }
    }
}

#[async_trait]
impl Approver for AtTerminal {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return denied("there is no terminal to ask at; use --approve-all or --reject-all");
        }
        self.progress.settle().await;
        let question = question(request);
        let (answer, answered) = oneshot::channel();
        // A thread of its own: a read of a terminal cannot be stopped, and must not keep the runtime from ending.
        std::thread::spawn(move || {
            // The run was cancelled if nobody waits for the answer any more.
            let _ = answer.send(ask(&question));
        });
        match answered.await {
            Ok(Ok(decision)) => decision,
            Ok(Err(error)) => denied(&format!("the terminal cannot be read: {error}")),
            Err(_) => denied("nobody answered"),
        }
    }
}

fn question(request: &ApprovalRequest) -> String {
    let arguments = printable(&format!("{:#}", request.arguments));
    let (tool, caller) = (&request.tool, &request.caller);
    format!("`{caller}` wants to call `{tool}` with {arguments}\nApprove? [y]es, [s]ession, [n]o: ")
}

fn ask(question: &str) -> io::Result<Decision> {
    loop {
        let mut stderr = io::stderr().lock();
        stderr.write_all(question.as_bytes())?;
        stderr.flush()?;
        drop(stderr);
        let mut line = String::new();
        if io::stdin().read_line(&mut line)? == 0 {
            return Ok(denied("the user closed the terminal"));
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" | "a" => return Ok(Decision::Approved),
            "s" | "session" => return Ok(Decision::ApprovedForSession),
            "n" | "no" | "d" => return Ok(denied("the user said no")),
            _ => {}
        }
    }
}

fn denied(reason: &str) -> Decision {
    Decision::Denied { reason: reason.to_owned() }
}
