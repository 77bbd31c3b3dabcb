//! Whether an admitted call may run: what its rule says, or whom it has asked.

mod recorded;

use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub(super) use self::recorded::RecordedCall;
use self::recorded::approval_of;
use super::Run;
use super::admit::refuse_cycle;
use super::perform::decode;
use crate::base::error::{CallError, Fault};
use crate::observe::event::{Caller, DecidedBy, EventKind, RuleSource};
use crate::plane::approval::{Answer, ApprovalRequest, Proposal, Question, State, Verdict};
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
use crate::plane::registry::{Prepared, Registered};

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
        if let Some(source) = by_user.or_else(|| self.approvals().pre_approved(tool)) {
            decided(ctx, source, &Answer::approved(DecidedBy::Policy));
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
        let question = self.approvals().question(tool, ctx.frame().by, *request, &self.approved);
        let StepOutcome { value: answer, is_replayed } = self.ask(ctx, question).await?;
        if is_replayed {
            return self.apply_recorded(ctx, tool, prepared, answer, false);
        }
        decided(ctx, &source, &answer);
        if let Some(edited) = permitted(tool, answer)? {
            *prepared = decode(tool, Ok(edited), true)?;
            refuse_cycle(ctx, tool, prepared)?;
        }
        Ok(())
    }

    /// Refuses a worker's call whose first request would be refused, so that nobody is asked about it in vain.
    fn could_begin(&self, ctx: &CallContext, tool: &Registered) -> Result<(), CallError> {
        let Some(plan) = tool.plan() else { return Ok(()) };
        let model = self.plane.fitted(plan, ctx)?.model;
        ctx.check_request(model.name(), self.plane.prices.price(model.name()).is_some())
    }

    /// Finds what the rules say of a call; of a shadow's, nobody is asked.
    fn propose(&self, ctx: &CallContext, tool: &Arc<Registered>, prepared: &Prepared) -> Result<Proposal, Fault> {
        let (approvals, by) = (self.approvals(), ctx.frame().by);
        let request = || request(ctx, tool, prepared);
        if ctx.frame().is_shadow {
            return approvals.propose_unasked(tool, by, &request);
        }
        approvals.propose(tool, by, &request)
    }

    /// Reports the question, and waits for its answer, unless the journal has it.
    ///
    /// Only the approver's answers are recorded, and denials of which a model is told, since it goes on from them. A mode or
    /// rule decides again when the run is resumed.
    pub(super) async fn ask(&self, ctx: &CallContext, question: Question) -> Result<StepOutcome<Answer>, CallError> {
        let request = Arc::clone(&question.request);
        ctx.emit(|| EventKind::ApprovalAsked {
            summary: request.summary(),
            arguments: request.arguments.clone(),
            position: request.position,
            total: if request.position == 0 { 0 } else { request.total() },
        });
        let step = ctx.frame().step.get().map(|step| approval_of(step));
        let fresh = |value| StepOutcome { value, is_replayed: false };
        let answer = async {
            let Some(step) = step else { return Ok(fresh(question.answer().await)) };
            let again = question.clone();
            let unrecorded = Arc::new(OnceLock::new());
            let (left, tool) = (Arc::clone(&unrecorded), ctx.name().to_owned());
            let keeps_denials = self.plane.return_permission_errors;
            let asked = async move {
                let answer = question.answer().await;
                if answer.by == DecidedBy::Approver || (keeps_denials && !answer.is_approved()) {
                    return Ok(answer);
                }
                drop(left.set(answer));
                Err(CallError::Cancelled { tool })
            };
            let came: StepOutcome<Answer> = match ctx.recorded(JournalMethod::Promise, step, asked).await {
                Ok(came) => came,
                Err(error) => return unrecorded.get().cloned().map(fresh).ok_or(error),
            };
            if came.is_replayed && !came.value.lasts() {
                // What a mode or rule approved in an older journal.
                return Ok(fresh(again.answer().await));
            }
            Ok(came)
        };
        tokio::select! {
            biased;
            error = ctx.stopped() => match error {
                CallError::Cancelled { .. } => Ok(fresh(Answer::denied("the run was cancelled", DecidedBy::Cancellation))),
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
        Verdict::Denied(_) if answer.by == DecidedBy::Cancellation => Err(CallError::Cancelled { tool: tool() }),
        Verdict::Denied(reason) => Err(CallError::Denied { tool: tool(), reason }),
        Verdict::Blocked(reason) => Err(CallError::Blocked { tool: tool(), reason }),
    }
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
