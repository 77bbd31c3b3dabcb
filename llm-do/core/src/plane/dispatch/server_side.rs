//! The approval of server-side tools, which a worker's provider runs.

use std::sync::Arc;

use llm_do_providers::ServerSideTool;
use serde_json::Value;

use super::Run;
use super::approve::{CANNOT_ASK, RecordedCall, approval_key, emit_decision, open_review, set_caller};
use crate::base::error::{CallError, chain};
use crate::declare::tool::Effect;
use crate::observe::event::{ApprovalScope, Caller, DecidedBy, EventKind};
use crate::observe::journal::{StepKind, digest};
use crate::plane::approval::{Approval, ApprovalRequest, Reviewer};
use crate::plane::context::{CallContext, CallFrame, StepOutcome};

impl Run {
    /// Returns the server-side tools that a worker may use, in the order of `tools`.
    pub(super) async fn permitted(
        &self,
        worker: &CallContext,
        tools: &[ServerSideTool],
    ) -> Result<Vec<ServerSideTool>, CallError> {
        let mut permitted = Vec::new();
        for tool in tools {
            if self.permits(worker, tool).await? {
                permitted.push(tool.clone());
            }
        }
        Ok(permitted)
    }

    /// Decides about one tool. Unless its rule pre-approves it, events report it as a call made by the worker.
    async fn permits(&self, worker: &CallContext, tool: &ServerSideTool) -> Result<bool, CallError> {
        let ctx = worker.clone().into_child(|worker| self.server_side_frame(worker, tool));
        let mut request = request(&ctx, tool);
        let rule = self.approvals().server_side_rule(&request);
        request.rule = rule.source.clone();
        if self.plans_server_side(&ctx, tool, &request, &rule) {
            return Ok(false);
        }
        let fresh = |value| StepOutcome { value, is_replayed: false };
        let StepOutcome { value: approval, is_replayed } = match rule.approval() {
            Some(approval) if approval.is_approved() => return Ok(true),
            Some(approval) => fresh(approval),
            None if ctx.frame().is_unattended() => fresh(Approval::denied(CANNOT_ASK, DecidedBy::Policy)),
            None => self.ask_server_side(&ctx, request).await?,
        };
        emit_decision(&ctx, &rule.source, &approval, is_replayed);
        // Without a decision, the worker continues without the tool, as after a denial.
        let ends_run = approval.stops && approval.by == DecidedBy::Approver;
        let error = match approval.into_edit(tool.name()) {
            Ok(_) => return Ok(true),
            Err(CallError::Cancelled { .. }) => return Err(CallError::Cancelled { tool: worker.name().to_owned() }),
            Err(error) => error,
        };
        ctx.emit(|| EventKind::CallRefused {
            by: Caller::Model,
            error: chain(&error),
            arguments: Some(tool.options().into()),
        });
        if ends_run { Err(error) } else { Ok(false) }
    }

    /// Asks for the approval of one tool, unless the journal has the answer.
    async fn ask_server_side(
        &self,
        ctx: &CallContext,
        mut request: ApprovalRequest,
    ) -> Result<StepOutcome<Approval>, CallError> {
        request.key = approval_key(ctx, 0);
        request.environment = Some(self.environment(ctx, None));
        request.is_asked_again = RecordedCall::has_answer(ctx, 0);
        let submitted = {
            let open = |reviewer: Option<&Arc<Reviewer>>| open_review(ctx, 0, reviewer);
            self.approvals().submit_server_side(request, &self.approved, ctx.journal(), &open)
        };
        let request = Arc::clone(&submitted.request);
        let StepOutcome { value: answer, is_replayed } = self.ask(ctx, submitted, 0).await?;
        if is_replayed && answer.scope != ApprovalScope::Call {
            self.remember(ctx, &request, answer.scope);
        }
        if !is_replayed {
            return Ok(StepOutcome { value: answer, is_replayed });
        }
        let was_approved = answer.is_approved();
        let answer = self.approvals().rechecked_mode(answer);
        let is_replayed = answer.is_approved() == was_approved;
        Ok(StepOutcome { value: answer, is_replayed })
    }

    fn server_side_frame(&self, worker: &CallContext, tool: &ServerSideTool) -> CallFrame {
        let from = worker.frame();
        let frame = CallFrame {
            depth: from.depth,
            nesting: from.nesting + 1,
            is_shadow: from.is_shadow,
            is_review: from.is_review,
            is_unguarded: worker.is_unguarded(),
            ..CallFrame::new(self.next_number(), tool.name().into(), Caller::Model)
        };
        // The step is below the worker's step, so that the keys of its calls do not depend on which tools need
        // approval.
        let part = || format!("server-side tool {}:{}", tool.name(), digest(&tool.options()));
        let step = from.step.get().map(|step| step.within(StepKind::Tool, &part()));
        if let Some(step) = step {
            drop(frame.step.set(Box::new(step)));
        }
        frame
    }
}

fn request(ctx: &CallContext, tool: &ServerSideTool) -> ApprovalRequest {
    let mut request = ApprovalRequest::new(tool.name(), tool.options());
    request.description = Arc::from("A tool that the model's provider runs on its own servers.");
    request.effect = Effect::Undeclared;
    set_caller(ctx, &mut request);
    request.origins = ctx.origins(&request.arguments, &Value::Null, Vec::new());
    request.variant = Some(crate::plane::context::Variant::new("server-side tool"));
    request
}
