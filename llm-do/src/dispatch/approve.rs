//! Whether an admitted call may run: what its policy says, or whom it has asked.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;

use super::Run;
use crate::approval::{ApprovalRequest, Ruling, needs_approval};
use crate::context::{CallFrame, Host};
use crate::error::CallError;
use crate::event::{Caller, EventKind, Judge};
use crate::registry::Registered;

impl Run {
    /// Asks about a call whoever must be asked.
    pub(super) async fn approve(
        &self,
        caller: &CallFrame,
        frame: &CallFrame,
        tool: &Registered,
        arguments: &Value,
        by: Caller,
    ) -> Result<(), CallError> {
        if by == Caller::User || !needs_approval(tool) {
            self.decided(frame, Judge::Policy, None);
            return Ok(());
        }
        self.emit(frame, EventKind::ApprovalAsked { arguments: arguments.clone() });
        let request = ApprovalRequest {
            tool: Arc::clone(&tool.spec.name),
            description: Arc::clone(&tool.spec.description),
            effect: tool.effect(),
            arguments: arguments.clone(),
            caller: Arc::clone(&caller.name),
        };
        let (ruling, judge) = self.decide(frame, &request).await;
        self.decided(frame, judge, ruling.as_ref().err().cloned());
        ruling.map_err(|reason| match judge {
            Judge::Cancellation => CallError::Cancelled { tool: tool.name().to_owned() },
            _ => CallError::Denied { tool: tool.name().to_owned(), reason },
        })
    }

    /// Waits for the decision; an approver that panics has not approved.
    async fn decide(&self, frame: &CallFrame, request: &ApprovalRequest) -> Ruling {
        let decision = AssertUnwindSafe(self.plane.approvals.decide(request)).catch_unwind();
        tokio::select! {
            biased;
            () = frame.cancellation.cancelled() => (Err("the run was cancelled".to_owned()), Judge::Cancellation),
            ruling = decision => {
                ruling.unwrap_or_else(|_| (Err("the approver panicked".to_owned()), Judge::Approver))
            }
        }
    }

    fn decided(&self, frame: &CallFrame, by: Judge, reason: Option<String>) {
        self.emit(frame, EventKind::ApprovalDecided { approved: reason.is_none(), by, reason });
    }
}
