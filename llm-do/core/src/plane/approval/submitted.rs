//! A submitted approval request, and the approval that it gets.

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either, Ready, Shared, ready};
use tokio_util::sync::CancellationToken;

use super::review::RefusedEdits;
use super::{Approval, ApprovalRequest};

/// A submitted request; clones get the same approval.
#[derive(Clone)]
pub(crate) struct SubmittedRequest {
    pub(crate) request: Arc<ApprovalRequest>,
    /// Cancelled once the request can be found by clients that answer it.
    pub(crate) announced: CancellationToken,
    /// The approver's arguments that could not run, so far; `None` if the approver is not asked.
    pub(crate) refused: Option<RefusedEdits>,
    approval: Either<Ready<Approval>, Shared<BoxFuture<'static, Approval>>>,
}

impl SubmittedRequest {
    /// Creates a request that the mode or an approval in memory has decided, without the approver.
    pub(super) fn decided(request: ApprovalRequest, approval: Approval) -> Self {
        let (request, announced) = (Arc::new(request), CancellationToken::new());
        Self { request, announced, refused: None, approval: Either::Left(ready(approval)) }
    }

    /// Creates a request that waits for the approver.
    pub(super) fn pending(
        request: Arc<ApprovalRequest>,
        announced: CancellationToken,
        refused: RefusedEdits,
        approval: Shared<BoxFuture<'static, Approval>>,
    ) -> Self {
        Self { request, announced, refused: Some(refused), approval: Either::Right(approval) }
    }

    /// Returns whether the approver must decide.
    pub(crate) fn is_pending(&self) -> bool {
        self.refused.is_some()
    }

    /// Waits for the approval. Dropping the future cancels the request only if no equal call waits for it.
    pub(crate) async fn approval(self) -> Approval {
        self.approval.await
    }
}
