//! Whether an admitted call may run: what its rule says, or whom it has asked.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::Run;
use super::admit::refuse_cycle;
use super::perform::decode;
use crate::approval::{Answer, ApprovalRequest, Proposal, Question, State, Verdict};
use crate::context::{CallContext, Way};
use crate::error::{CallError, Fault};
use crate::event::{ApprovalScope, Caller, EventKind, Judge, RuleSource};
use crate::journal::StepKind;
use crate::registry::{Prepared, Registered};

/// A call about which somebody is asked, by the rule of `source`.
pub(super) struct Asked {
    source: RuleSource,
    request: Box<ApprovalRequest>,
}

impl Run {
    /// Finds what the rules say of a call; returns the question, if they ask about it.
    pub(super) fn ruled(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &Prepared,
    ) -> Result<Option<Box<Asked>>, CallError> {
        let by_user = Some(&RuleSource::User).filter(|_| ctx.frame().by == Caller::User);
        // Most calls: nothing is made of their arguments, or of an answer.
        if let Some(source) = by_user.or_else(|| self.plane.approvals.pre_approved(tool)) {
            decided(ctx, source, &Answer::approved(Judge::Policy));
            return Ok(None);
        }
        let proposal = self.propose(ctx, tool, prepared).map_err(|fault| CallError::invalid(tool.name(), fault))?;
        match proposal.state {
            State::Asked(request) => Ok(Some(Box::new(Asked { source: proposal.source, request }))),
            State::Ruled(answer) => {
                decided(ctx, &proposal.source, &answer);
                permitted(tool, answer).map(|_| None)
            }
        }
    }

    /// Asks about a call whoever must be asked, who may change its arguments.
    pub(super) async fn approve(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        asked: Asked,
    ) -> Result<(), CallError> {
        let Asked { source, request } = asked;
        self.could_begin(ctx, tool)?;
        let question = self.plane.approvals.question(tool, ctx.frame().by, *request, &self.approved);
        let answer = self.ask(ctx, question).await?;
        decided(ctx, &source, &answer);
        if let Some(edited) = permitted(tool, answer)? {
            *prepared = decode(tool, Ok(edited), true)?;
            refuse_cycle(ctx, tool, prepared)?;
        }
        Ok(())
    }

    /// Refuses a worker's call whose first request would be refused, so that nobody is asked about it in vain.
    fn could_begin(&self, ctx: &CallContext, tool: &Registered) -> Result<(), CallError> {
        let Some(plan) = tool.plan().filter(|_| !is_decided(ctx)) else { return Ok(()) };
        let model = self.plane.fitted(plan, ctx)?.model;
        ctx.may_request(model.name(), self.plane.prices.price(model.name()).is_some())
    }

    /// Finds what the rules say of a call; of a shadow's, nobody is asked.
    fn propose(&self, ctx: &CallContext, tool: &Arc<Registered>, prepared: &Prepared) -> Result<Proposal, Fault> {
        let (approvals, by) = (&self.plane.approvals, ctx.frame().by);
        let request = || request(ctx, tool, prepared);
        if ctx.frame().is_shadow {
            return approvals.propose_unasked(tool, by, &request);
        }
        approvals.propose(tool, by, &request)
    }

    /// Reports the question, and waits for its answer, unless the journal has it.
    ///
    /// What somebody decided is kept. That nobody could be asked, or that the mode denies, is not, unless a model is told of
    /// it and goes on: a run that ended by it may be resumed with an approver or in another mode.
    pub(super) async fn ask(&self, ctx: &CallContext, question: Question) -> Result<Answer, CallError> {
        let request = Arc::clone(&question.request);
        ctx.emit(|| EventKind::ApprovalAsked {
            summary: request.summary(),
            arguments: request.arguments.clone(),
            position: request.position,
            total: if request.position == 0 { 0 } else { request.total() },
        });
        let step = ctx.frame().step.get().map(|step| step.within(StepKind::Approval, "approval"));
        let answer = async {
            let Some(step) = step else { return Ok(question.answer().await) };
            let denied = Arc::new(OnceLock::new());
            let (unkept, tool) = (Arc::clone(&denied), ctx.name().to_owned());
            let keeps_denials = self.plane.return_permission_errors;
            let asked = async move {
                let answer = question.answer().await;
                if keeps_denials || answer.by == Judge::Approver || matches!(answer.verdict, Verdict::Approved(_)) {
                    return Ok(answer);
                }
                drop(unkept.set(answer));
                Err(CallError::Cancelled { tool })
            };
            let came = match ctx.recorded(Way::Promise, step, asked).await {
                Ok(came) => came,
                Err(error) => return denied.get().cloned().ok_or(error),
            };
            let answer: Answer = came.value;
            if came.is_replayed && answer.scope != ApprovalScope::Call {
                self.plane.approvals.remember(&request, answer.scope, &self.approved);
            }
            Ok(answer)
        };
        tokio::select! {
            biased;
            error = ctx.stopped() => match error {
                CallError::Cancelled { .. } => Ok(Answer::denied("the run was cancelled", Judge::Cancellation)),
                late => Err(late),
            },
            answer = answer => answer,
        }
    }
}

/// Returns the arguments that were put in the place of the call's, unless it may not run.
fn permitted(tool: &Registered, answer: Answer) -> Result<Option<Value>, CallError> {
    let tool = || tool.name().to_owned();
    match answer.verdict {
        Verdict::Approved(edited) => Ok(edited),
        Verdict::Denied(_) if answer.by == Judge::Cancellation => Err(CallError::Cancelled { tool: tool() }),
        Verdict::Denied(reason) => Err(CallError::Denied { tool: tool(), reason }),
        Verdict::Blocked(reason) => Err(CallError::Blocked { tool: tool(), reason }),
    }
}

/// Returns whether a journal has the decision about a call, so that nobody is asked.
fn is_decided(ctx: &CallContext) -> bool {
    let step = ctx.frame().step.get().map(|step| step.within(StepKind::Approval, "approval"));
    step.zip(ctx.journal()).is_some_and(|(step, journal)| journal.is_recorded(&step.key))
}

/// Reports what was decided about a call.
pub(super) fn decided(ctx: &CallContext, rule: &RuleSource, answer: &Answer) {
    ctx.emit(|| {
        let rule = rule.clone();
        let (approved, reason, edited) = match &answer.verdict {
            Verdict::Approved(edited) => (true, None, edited.clone()),
            Verdict::Denied(reason) | Verdict::Blocked(reason) => (false, Some(reason.clone()), None),
        };
        let (by, scope) = (answer.by, answer.scope);
        EventKind::ApprovalDecided { approved, by, rule, reason, edited, scope }
    });
}

fn request(ctx: &CallContext, tool: &Registered, prepared: &Prepared) -> Result<ApprovalRequest, Fault> {
    let mut request = ApprovalRequest::new(Arc::clone(&tool.spec.name), Value::Null);
    request.show(prepared.shown()?);
    request.description = Arc::clone(&tool.spec.description);
    request.effect = tool.effect();
    request.template = tool.summary().map(Arc::from);
    request.variant = tool.variant().cloned();
    by(ctx, &mut request);
    Ok(request)
}

/// Says who makes the call of `ctx`, and in which run.
pub(super) fn by(ctx: &CallContext, request: &mut ApprovalRequest) {
    request.caller = ctx.caller().map(|caller| Arc::clone(&caller.frame().name)).unwrap_or_default();
    // All callers but the user, whose frame is the last.
    let mut callers: Vec<_> = ctx.frames().skip(1).collect();
    callers.pop();
    callers.reverse();
    request.path = callers.iter().map(|frame| Arc::clone(&frame.name)).collect();
    request.path_ids = callers.iter().map(|frame| frame.call).collect();
    request.path_variants = callers.iter().map(|frame| frame.variant.clone()).collect();
    request.run = ctx.run_id().into();
    request.call = ctx.frame().call;
    request.parent = request.path_ids.last().copied();
}
