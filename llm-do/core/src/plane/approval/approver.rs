//! Who decides about calls that need approval.

use std::fmt;

use async_trait::async_trait;

use super::{ApprovalRequest, Decision};
use crate::plane::context::CallContext;

/// Decides about calls that need approval.
///
/// An async function can be an approver too: see
/// [`RuntimeBuilder::approve_with`](crate::session::runtime::RuntimeBuilder::approve_with). If an approver panics, the call is denied as
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
///     async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
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
pub trait Approver: fmt::Debug + Send + Sync {
    /// Decides whether one call may run.
    ///
    /// Concurrent equal calls of one caller share one request; an approval holds for these calls only, unless the decision
    /// has a wider [scope](crate::observe::event::ApprovalScope). The future is dropped once no call waits for the decision any more.
    ///
    /// With `ctx`, an approver may ask a model or make calls. These count for the calling call and its limits, and a journal records
    /// them, so that a resumed run does not repeat them. Their own calls are never asked about: what needs approval is denied there.
    async fn review(&self, request: &ApprovalRequest, ctx: &CallContext) -> Decision;

    /// Returns the maximum number of concurrent reviews; read when the runtime is built. Default: 1.
    ///
    /// Further requests wait in a queue.
    fn max_concurrent(&self) -> usize {
        1
    }

    /// Returns whether [`review`](Self::review) adds the request to a list, in which a client finds and answers it, before it first waits.
    /// Default: false.
    ///
    /// The event [`ApprovalAsked`](crate::observe::event::EventKind::ApprovalAsked) then comes after that, so that a client that follows events finds the
    /// request. Otherwise it comes before the review.
    fn lists_requests(&self) -> bool {
        false
    }
}

/// The approver of a runtime that has only a reviewer.
#[derive(Debug)]
pub(super) struct NoApprover;

#[async_trait]
impl Approver for NoApprover {
    async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
        let review = request.review_text().map(|text| format!(": {text}")).unwrap_or_default();
        Decision::undecided(format!("no approver is configured; set one{review}"))
    }

    fn max_concurrent(&self) -> usize {
        usize::MAX
    }
}

/// An approver that calls a function.
pub(crate) struct ByFunction<F>(pub(crate) F);

#[async_trait]
impl<F, D> Approver for ByFunction<F>
where
    F: Fn(ApprovalRequest) -> D + Send + Sync,
    D: Future<Output = Decision> + Send,
{
    async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
        (self.0)(request.clone()).await
    }
}

impl<F> fmt::Debug for ByFunction<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByFunction").finish_non_exhaustive()
    }
}
