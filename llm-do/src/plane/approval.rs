//! Approval of calls: the rules, the approver, its queue and the approvals that are remembered.

mod answer;
mod approvals;
mod decision;
mod edit;
mod function;
mod given;
mod inbox;
mod memory;
mod overview;
mod policy;
mod queue;
mod request;
mod review;
mod rule;
mod rule_set;
mod rules;

use std::fmt::Debug;

use async_trait::async_trait;

pub(crate) use self::answer::{Answer, Verdict, edited};
pub(crate) use self::approvals::{Approvals, Outcome, Ruling, SubmittedRequest};
pub use self::decision::Decision;
pub use self::edit::RefusedEdit;
pub(crate) use self::function::ByFunction;
pub(crate) use self::given::GivenDecision;
pub use self::inbox::{ApprovalInbox, InboxApprover, PendingApproval};
pub(crate) use self::memory::{EnvironmentDigest, LastingApproval, RunMemory, RunScope};
pub use self::overview::{ApprovalOverview, RememberedApproval};
pub use self::policy::{Policy, ProposedCall, WorkerRule};
pub use self::request::ApprovalRequest;
pub(crate) use self::request::may_have_happened;
pub(crate) use self::review::ShowPreview;
pub use self::rule::Rule;

/// Decides about calls that need approval.
///
/// An async function can be an approver too: see
/// [`RuntimeBuilder::approve_with`](crate::runtime::RuntimeBuilder::approve_with). If an approver panics, the call is denied as
/// [undecided](Decision::Undecided).
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::approval::{ApprovalRequest, Approver, Decision};
/// use llm_do::async_trait;
///
/// /// Approves changes to the files of one folder, and denies all other calls.
/// #[derive(Debug)]
/// struct Within(&'static str);
///
/// #[async_trait]
/// impl Approver for Within {
///     async fn review(&self, request: &ApprovalRequest) -> Decision {
///         match request.arguments["path"].as_str() {
///             Some(path) if path.starts_with(self.0) => Decision::approve(),
///             _ => Decision::deny(format!("only files of {} may change", self.0)),
///         }
///     }
/// }
///
/// /// Delete a file.
/// #[tool(effect = destructive)]
/// fn delete(path: String) {
///     let _ = path;
/// }
///
/// /// Cleans up.
/// #[entry(toolsets = [delete])]
/// async fn clean(ctx: &CallContext<clean>, path: String) -> Result<()> {
///     Ok(ctx.call(delete { path }).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().approver(Within("old/")).build()?;
/// runtime.run(clean { path: "old/notes.txt".into() }).await?;
/// let error = runtime.run(clean { path: "new/notes.txt".into() }).await.unwrap_err();
/// assert!(llm_do::error::chain(&error).ends_with("denied: only files of old/ may change"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Approver: Debug + Send + Sync {
    /// Decides whether one call may run.
    ///
    /// Concurrent equal calls of one caller share one request; an approval holds for these calls only, unless the decision
    /// has a wider [scope](crate::approval::ApprovalScope). The future is dropped once no call waits for the decision any more.
    async fn review(&self, request: &ApprovalRequest) -> Decision;

    /// Returns the maximum number of concurrent reviews; read when the runtime is built. Default: 1.
    ///
    /// Further requests wait in a queue.
    fn max_concurrent(&self) -> usize {
        1
    }

    /// Returns whether [`review`](Self::review) adds the request to a list, in which a client finds and answers it, before it first waits.
    /// Default: false.
    ///
    /// The event [`ApprovalAsked`](crate::event::EventKind::ApprovalAsked) then comes after that, so that a client that follows events finds the
    /// request. Otherwise it comes before the review.
    fn lists_requests(&self) -> bool {
        false
    }
}

/// How calls that need approval are decided.
///
/// Decisions by the mode are not recorded: a run that is resumed from a
/// [journal](crate::runtime::RuntimeBuilder::journal) follows the mode of the new process. A decision of the approver is recorded,
/// and holds for its call until that begins; [`RejectAll`](Self::RejectAll) rejects such a call all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// Asks the approver; without an approver, the call is denied.
    #[default]
    Prompt,
    /// Approves each call; [blocked](Rule::Blocked) calls stay blocked. It also approves calls that [began](ApprovalRequest::began)
    /// before and may have had their effect.
    ApproveAll,
    /// Denies each call; [pre-approved](Rule::PreApproved) calls still run, unless they [began](ApprovalRequest::began) before and
    /// may have had their effect.
    RejectAll,
}

impl ApprovalMode {
    /// Returns the mode under which fewer calls run.
    fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::RejectAll, _) | (_, Self::RejectAll) => Self::RejectAll,
            (Self::Prompt, _) | (_, Self::Prompt) => Self::Prompt,
            (Self::ApproveAll, Self::ApproveAll) => Self::ApproveAll,
        }
    }
}
