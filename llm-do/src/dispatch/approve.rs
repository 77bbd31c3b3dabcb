//! Whether an admitted call may run: what its policy says, or whom it has asked.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;

use super::Run;
use super::perform::Prepared;
use crate::approval::{ApprovalRequest, Ruling, needs_approval};
use crate::context::CallContext;
use crate::error::CallError;
use crate::event::{Caller, EventKind, Judge};
use crate::registry::Registered;

impl Run {
    /// Asks about a call whoever must be asked.
    pub(super) async fn approve(
        &self,
        ctx: &CallContext,
        tool: &Registered,
        prepared: &mut Prepared,
    ) -> Result<(), CallError> {
        if ctx.frame().by == Caller::User || !needs_approval(tool) {
            decided(ctx, Judge::Policy, None);
            return Ok(());
        }
        // On the heap: most calls need nobody's approval.
        Box::pin(self.ask(ctx, tool, prepared)).await
    }

    async fn ask(&self, ctx: &CallContext, tool: &Registered, prepared: &mut Prepared) -> Result<(), CallError> {
        let invalid = |message| CallError::InvalidArguments { tool: tool.name().to_owned(), message };
        let arguments = prepared.arguments().map_err(invalid)?.into_owned();
        ctx.emit(|| EventKind::ApprovalAsked { arguments: arguments.clone() });
        let request = ApprovalRequest {
            tool: Arc::clone(&tool.spec.name),
            description: Arc::clone(&tool.spec.description),
            effect: tool.effect(),
            arguments,
            caller: ctx.caller().map(|caller| Arc::clone(&caller.frame().name)).unwrap_or_default(),
        };
        let (ruling, judge) = self.decide(ctx, &request).await;
        decided(ctx, judge, ruling.as_ref().err().cloned());
        ruling.map_err(|reason| match judge {
            Judge::Cancellation => CallError::Cancelled { tool: tool.name().to_owned() },
            _ => CallError::Denied { tool: tool.name().to_owned(), reason },
        })
    }

    /// Waits for the decision; an approver that panics has not approved.
    async fn decide(&self, ctx: &CallContext, request: &ApprovalRequest) -> Ruling {
        let decision = AssertUnwindSafe(self.plane.approvals.decide(request)).catch_unwind();
        tokio::select! {
            biased;
            () = ctx.cancelled() => (Err("the run was cancelled".to_owned()), Judge::Cancellation),
            ruling = decision => {
                ruling.unwrap_or_else(|_| (Err("the approver panicked".to_owned()), Judge::Approver))
            }
        }
    }
}

fn decided(ctx: &CallContext, by: Judge, reason: Option<String>) {
    ctx.emit(|| EventKind::ApprovalDecided { approved: reason.is_none(), by, reason });
}
