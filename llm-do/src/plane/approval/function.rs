//! An approver that calls a function.

use std::fmt;

use async_trait::async_trait;

use super::{ApprovalRequest, Approver, Decision};

/// An approver that calls a function.
pub(crate) struct ByFunction<F>(pub(crate) F);

#[async_trait]
impl<F, D> Approver for ByFunction<F>
where
    F: Fn(ApprovalRequest) -> D + Send + Sync,
    D: Future<Output = Decision> + Send,
{
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        (self.0)(request.clone()).await
    }
}

impl<F> fmt::Debug for ByFunction<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByFunction").finish_non_exhaustive()
    }
}
