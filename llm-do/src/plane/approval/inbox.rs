//! An approver that answers later: questions come out at one place, and are answered wherever a user is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::{ApprovalRequest, Approver, Decision};
use crate::observe::event::ApprovalScope;

/// Where the questions of an [`InboxApprover`] come out: for user interfaces, servers and tests.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::approval::ApprovalInbox;
///
/// /// Delete a file.
/// #[tool(effect = destructive)]
/// fn delete(path: String) -> String {
///     format!("deleted {path}")
/// }
///
/// /// Cleans up.
/// #[entry(toolsets = [delete])]
/// async fn clean(ctx: &CallContext<clean>) -> Result<String> {
///     Ok(ctx.call(delete { path: "old.txt".into() }).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let (approver, mut inbox) = ApprovalInbox::new();
/// let runtime = Runtime::builder().approver(approver).build()?;
/// let run = tokio::spawn(async move { runtime.run(clean {}).await });
///
/// let question = inbox.next().await.ok_or("the run has ended")?;
/// assert_eq!(question.request().summary(), r#"delete(path="old.txt")"#);
/// question.approve();
/// assert_eq!(run.await??, "deleted old.txt");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ApprovalInbox {
    questions: mpsc::UnboundedReceiver<PendingApproval>,
    pending: Pending,
}

/// The approver of an [`ApprovalInbox`]: takes any number of questions at once.
#[derive(Clone, Debug)]
pub struct InboxApprover {
    questions: mpsc::UnboundedSender<PendingApproval>,
    pending: Pending,
}

/// The questions that are not answered, in the order in which they came.
#[derive(Clone, Debug, Default)]
struct Pending(Arc<Mutex<Listed>>);

#[derive(Debug, Default)]
struct Listed {
    requests: BTreeMap<u64, ApprovalRequest>,
    count: u64,
}

impl ApprovalInbox {
    /// Returns an approver, to be given to a runtime, and the inbox for its questions.
    ///
    /// Once the inbox is dropped, every call is denied as [undecided](Decision::Undecided): a run that is resumed asks again.
    #[must_use]
    pub fn new() -> (InboxApprover, Self) {
        let (sender, questions) = mpsc::unbounded_channel();
        let pending = Pending::default();
        (InboxApprover { questions: sender, pending: pending.clone() }, Self { questions, pending })
    }

    /// Waits for the next question; none once the approver, and the runtime that has it, are gone.
    ///
    /// Dropping the future loses no question.
    pub async fn next(&mut self) -> Option<PendingApproval> {
        loop {
            let question = self.questions.recv().await?;
            // Whoever asked may have been cancelled since.
            if question.is_open() {
                return Some(question);
            }
        }
    }

    /// Lists what is not answered, whether [`next`](Self::next) has returned it or not, in the order of asking.
    #[must_use]
    pub fn pending(&self) -> Vec<ApprovalRequest> {
        self.pending.lock().requests.values().cloned().collect()
    }
}

/// A question that waits for its answer; dropping it denies the call, as [undecided](Decision::Undecided).
#[derive(Debug)]
#[must_use = "dropping it denies the call"]
pub struct PendingApproval {
    request: ApprovalRequest,
    answer: oneshot::Sender<Decision>,
}

impl PendingApproval {
    /// Returns the call that it is about.
    #[must_use]
    pub fn request(&self) -> &ApprovalRequest {
        &self.request
    }

    /// Returns whether anybody still waits for the answer: not if all who asked were cancelled.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.answer.is_closed()
    }

    /// Waits until nobody waits for the answer any more, so that a user interface may take the question away.
    pub async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }

    /// Lets the call run this once.
    pub fn approve(self) {
        self.respond(Decision::approve());
    }

    /// Lets the call run, and all equal ones within this scope.
    pub fn approve_for(self, scope: ApprovalScope) {
        self.respond(Decision::approve_for(scope));
    }

    /// Lets the call run, and all equal ones of this session, in whatever run and from whatever caller.
    pub fn approve_for_session(self) {
        self.respond(Decision::approve_for_session());
    }

    /// Lets the call run this once, with these arguments; if they do not fit, another question comes, with the
    /// [`problem`](ApprovalRequest::problem).
    pub fn approve_with(self, arguments: Value) {
        self.respond(Decision::approve_with(arguments));
    }

    /// Refuses the call; `reason` is what the caller is told.
    pub fn deny(self, reason: impl Into<String>) {
        self.respond(Decision::deny(reason));
    }

    /// Answers; an answer for which nobody waits any more is lost.
    pub fn respond(self, decision: Decision) {
        drop(self.answer.send(decision));
    }
}

#[async_trait]
impl Approver for InboxApprover {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        let _listed = self.pending.list(request.clone());
        let (answer, answered) = oneshot::channel();
        let question = PendingApproval { request: request.clone(), answer };
        if self.questions.send(question).is_err() {
            return Decision::undecided("nobody reads the questions: the inbox was dropped");
        }
        answered.await.unwrap_or_else(|_| Decision::undecided("the question was dropped without an answer"))
    }

    fn at_once(&self) -> usize {
        usize::MAX
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a request until what is returned is dropped.
    fn list(&self, request: ApprovalRequest) -> Unlisting {
        let mut listed = self.lock();
        listed.count += 1;
        let number = listed.count;
        listed.requests.insert(number, request);
        drop(listed);
        Unlisting { pending: self.clone(), number }
    }
}

struct Unlisting {
    pending: Pending,
    number: u64,
}

impl Drop for Unlisting {
    fn drop(&mut self) {
        self.pending.lock().requests.remove(&self.number);
    }
}
