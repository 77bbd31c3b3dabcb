//! Which tools a worker's provider may run: those that the policy lets it use, or an approver.

use std::sync::Arc;

use llm_do_providers::ServerSideTool;

use super::Run;
use super::approve::{by, decided};
use crate::base::error::{CallError, chain};
use crate::declare::tool::Effect;
use crate::observe::event::{ApprovalScope, Caller, DecidedBy, EventKind};
use crate::observe::journal::{StepKind, digest};
use crate::plane::approval::{Answer, ApprovalRequest, State, Verdict};
use crate::plane::context::{CallContext, CallFrame, StepOutcome};

impl Run {
    /// Returns those of a worker's server-side tools that it may use, in the same order.
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

    /// Decides about one tool. Each that is not used by its rule alone is a call of its own in events, made by the worker.
    async fn permits(&self, worker: &CallContext, tool: &ServerSideTool) -> Result<bool, CallError> {
        let ctx = worker.clone().into_child(self.server_side_frame(worker, tool));
        let approvals = self.approvals();
        let proposal = approvals.propose_server_side(request(&ctx, tool));
        let answer = match proposal.state {
            State::Ruled(answer) if matches!(answer.verdict, Verdict::Approved(_)) => return Ok(true),
            State::Ruled(answer) => answer,
            State::Asked(_) if ctx.frame().is_shadow => {
                Answer::denied("a shadow asks nobody: it may use only what is pre-approved", DecidedBy::Policy)
            }
            State::Asked(request) => self.asked(&ctx, *request).await?,
        };
        decided(&ctx, &proposal.source, &answer);
        let name = || tool.name().to_owned();
        let error = match answer.verdict {
            Verdict::Approved(_) => return Ok(true),
            Verdict::Denied(_) if answer.by == DecidedBy::Cancellation => {
                return Err(CallError::Cancelled { tool: worker.name().to_owned() });
            }
            Verdict::Denied(reason) => CallError::Denied { tool: name(), reason },
            Verdict::Blocked(reason) => CallError::Blocked { tool: name(), reason },
        };
        ctx.emit(|| EventKind::CallRefused { by: Caller::Model, error: chain(&error) });
        Ok(false)
    }

    /// Asks about one tool, unless the journal has the answer.
    async fn asked(&self, ctx: &CallContext, request: ApprovalRequest) -> Result<Answer, CallError> {
        let question = self.approvals().question_server_side(request, &self.approved);
        let request = Arc::clone(&question.request);
        let StepOutcome { value: answer, is_replayed } = self.ask(ctx, question, 0).await?;
        if is_replayed && answer.scope != ApprovalScope::Call {
            self.remember(ctx, &request, answer.scope);
        }
        Ok(answer)
    }

    fn server_side_frame(&self, worker: &CallContext, tool: &ServerSideTool) -> CallFrame {
        let from = worker.frame();
        let frame = CallFrame {
            depth: from.depth,
            nesting: from.nesting + 1,
            is_shadow: from.is_shadow,
            is_unguarded: worker.is_unguarded(),
            ..CallFrame::new(self.number(), tool.name().into(), Caller::Model)
        };
        // A part of the worker's step, so that the places of its calls do not depend on who must be asked.
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
    by(ctx, &mut request);
    request.variant = Some(crate::plane::context::Variant::new("server-side tool"));
    request
}
