//! An approver that passes requests through a channel, to be answered by another task.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::{ApprovalRequest, Approver, Decision};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::ApprovalScope;
use crate::plane::context::CallContext;

/// Receives the requests of an [`InboxApprover`]: for user interfaces, servers and tests.
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
/// let pending = inbox.next().await.ok_or("the run has ended")?;
/// assert_eq!(pending.request().summary(), r#"delete(path="old.txt")"#);
/// pending.approve();
/// assert_eq!(run.await??, "deleted old.txt");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ApprovalInbox {
    receiver: mpsc::UnboundedReceiver<PendingApproval>,
    open: OpenList,
}

/// The approver of an [`ApprovalInbox`]; takes any number of concurrent requests.
#[derive(Clone, Debug)]
pub struct InboxApprover {
    sender: mpsc::UnboundedSender<PendingApproval>,
    open: OpenList,
}

/// The unanswered requests by their numbers, oldest first; clones share the list.
#[derive(Clone, Debug, Default)]
struct OpenList(Arc<Mutex<BTreeMap<u64, ApprovalRequest>>>);

impl ApprovalInbox {
    /// Creates an approver for a runtime, and the inbox that receives its requests.
    ///
    /// Once the inbox is dropped, each call that needs approval is denied as [undecided](Decision::Undecided): a run that is
    /// resumed asks again.
    #[must_use]
    pub fn new() -> (InboxApprover, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let open = OpenList::default();
        (InboxApprover { sender, open: open.clone() }, Self { receiver, open })
    }

    /// Waits for the next request; returns `None` once the approver and its runtime are dropped.
    ///
    /// It is cancel safe: dropping the future loses no request.
    pub async fn next(&mut self) -> Option<PendingApproval> {
        loop {
            let pending = self.receiver.recv().await?;
            // The call may have been cancelled in the meantime.
            if pending.is_open() {
                return Some(pending);
            }
        }
    }

    /// Lists the requests without an answer, oldest first, including those that [`next`](Self::next) has returned.
    #[must_use]
    pub fn pending(&self) -> Vec<ApprovalRequest> {
        self.open.lock().values().cloned().collect()
    }
}

/// A request that waits for an answer; dropping it denies the call as [undecided](Decision::Undecided).
#[derive(Debug)]
#[must_use = "dropping it denies the call"]
pub struct PendingApproval {
    request: ApprovalRequest,
    answer: oneshot::Sender<Decision>,
}

impl PendingApproval {
    /// Creates a request that waits for an answer, and the receiver of that answer.
    #[doc(hidden)]
    pub fn new(request: ApprovalRequest) -> (Self, oneshot::Receiver<Decision>) {
        let (answer, answered) = oneshot::channel();
        (Self { request, answer }, answered)
    }

    /// Returns the request.
    #[must_use]
    pub fn request(&self) -> &ApprovalRequest {
        &self.request
    }

    /// Returns whether a call still waits for the answer; false once all of them were cancelled.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.answer.is_closed()
    }

    /// Waits until no call needs the answer any more, so that a user interface can remove the request.
    pub async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }

    /// Approves this call only.
    pub fn approve(self) {
        self.respond(Decision::approve());
    }

    /// Approves the call, and all equal calls within this scope.
    pub fn approve_for(self, scope: ApprovalScope) {
        self.respond(Decision::approve_for(scope));
    }

    /// Approves the call, and all equal calls of this session, in every run and from every caller.
    pub fn approve_for_session(self) {
        self.respond(Decision::approve_for_session());
    }

    /// Approves this call only, with these arguments.
    ///
    /// If they are invalid, the inbox receives another request with the [`problem`](ApprovalRequest::problem).
    pub fn approve_with(self, arguments: Value) {
        self.respond(Decision::approve_with(arguments));
    }

    /// Reports that a call that [began](ApprovalRequest::began) before has happened, with this result: it does not run
    /// again.
    ///
    /// If the result does not match the tool, the inbox receives another request with the [`problem`](ApprovalRequest::problem).
    pub fn happened(self, result: impl Into<Value>) {
        self.respond(Decision::happened(result));
    }

    /// Denies the call; a model receives `reason` and continues, and the error of code contains it.
    pub fn deny(self, reason: impl Into<String>) {
        self.respond(Decision::deny(reason));
    }

    /// Denies the call and ends the run; the error contains `reason`.
    pub fn deny_and_stop(self, reason: impl Into<String>) {
        self.respond(Decision::deny_and_stop(reason));
    }

    /// Sends the decision; it has no effect if no call waits for it any more.
    pub fn respond(self, decision: Decision) {
        drop(self.answer.send(decision));
    }
}

#[async_trait]
impl Approver for InboxApprover {
    async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
        let _entry = self.open.add(request.clone());
        let (pending, answered) = PendingApproval::new(request.clone());
        if self.sender.send(pending).is_err() {
            return Decision::undecided("the approval inbox was dropped");
        }
        answered.await.unwrap_or_else(|_| Decision::undecided("the approval request was dropped without an answer"))
    }

    fn max_concurrent(&self) -> usize {
        usize::MAX
    }

    fn lists_requests(&self) -> bool {
        true
    }
}

impl OpenList {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, ApprovalRequest>> {
        self.0.lock().ignore_poison()
    }

    /// Adds a request; it is removed when the returned guard is dropped.
    fn add(&self, request: ApprovalRequest) -> OpenEntry {
        let mut open = self.lock();
        let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
        open.insert(number, request);
        drop(open);
        OpenEntry { open: self.clone(), number }
    }
}

/// Removes a request from the list when it is dropped.
struct OpenEntry {
    open: OpenList,
    number: u64,
}

impl Drop for OpenEntry {
    fn drop(&mut self) {
        self.open.lock().remove(&self.number);
    }
}
