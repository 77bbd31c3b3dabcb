//! What a journal holds about the approval of a call, when a run is resumed.
//!
//! A person's answer lasts. An approval by a mode, a rule or the session's memory holds for its process only, so it is not
//! recorded and decided again, unless the call's result is recorded: then nothing runs and no decision is needed.

use std::sync::Arc;

use super::super::Run;
use super::super::perform::decode;
use super::{decided, permitted, request};
use crate::base::error::{CallError, Fault};
use crate::observe::event::{ApprovalScope, DecidedBy, RuleSource};
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::approval::Answer;
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
use crate::plane::dispatch::admit::refuse_cycle;
use crate::plane::registry::{Prepared, Registered};

/// What is recorded of a call before it is decided about: at least one of both.
pub(in crate::plane::dispatch) struct RecordedCall {
    has_result: bool,
    /// The step of the recorded answer.
    approval: Option<StepSpec>,
}

impl RecordedCall {
    /// Looks up a call that has its place in the journal; returns `None` if nothing is recorded of it.
    pub(in crate::plane::dispatch) fn find(ctx: &CallContext) -> Option<Self> {
        let (journal, step) = (ctx.journal()?, ctx.frame().step.get()?);
        let has_result = journal.is_recorded(&step.key);
        let approval = Some(approval_of(step)).filter(|approval| journal.is_recorded(&approval.key));
        (has_result || approval.is_some()).then_some(Self { has_result, approval })
    }
}

/// Returns the step of the answer about a call.
pub(super) fn approval_of(call: &StepSpec) -> StepSpec {
    call.within(StepKind::Approval, "approval")
}

impl Run {
    /// Decides about a call by what is recorded of it; returns false if it is still to be decided.
    pub(in crate::plane::dispatch) async fn decide_as_recorded(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        recorded: RecordedCall,
    ) -> Result<bool, CallError> {
        let RecordedCall { has_result, approval } = recorded;
        let answer = match approval {
            Some(step) => Some(recorded_answer(ctx, step).await?),
            None => None,
        };
        match answer {
            Some(answer) if has_result || answer.lasts() => {
                self.apply_recorded(ctx, tool, prepared, answer, has_result)?;
            }
            None if has_result => {
                // Reported as in the first process, where that takes no rule to be applied.
                let rule = self.approvals().pre_approved(tool).unwrap_or(&RuleSource::Journal);
                decided(ctx, rule, &Answer::approved(DecidedBy::Policy));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lets a call run as a recorded answer says; what is yet to run is held to the rules.
    pub(super) fn apply_recorded(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        answer: Answer,
        has_result: bool,
    ) -> Result<(), CallError> {
        let invalid = |fault: Fault| CallError::invalid(tool.name(), fault);
        if answer.scope != ApprovalScope::Call {
            let request = request(ctx, tool, prepared).map_err(invalid)?;
            self.approvals().remember(&request, answer.scope, &self.approved);
        }
        if let Some(edited) = answer.edited_arguments() {
            *prepared = decode(tool, Ok(edited.clone()), true)?;
        }
        let (rule, answer) = if has_result || !answer.is_approved() {
            (RuleSource::Journal, answer)
        } else {
            let request = || request(ctx, tool, prepared);
            self.approvals().recheck(tool, ctx.frame().by, &request, answer).map_err(invalid)?
        };
        decided(ctx, &rule, &answer);
        match permitted(tool, answer)? {
            Some(_) => refuse_cycle(ctx, tool, prepared),
            None => Ok(()),
        }
    }

    /// Records that a rule refused a call, if a model is told of it and goes on: a replay must go on in the same way.
    ///
    /// Returns the refusal, or why it cannot be recorded.
    pub(in crate::plane::dispatch) async fn record_refusal(&self, ctx: &CallContext, refusal: CallError) -> CallError {
        let CallError::Blocked { reason, .. } = &refusal else { return refusal };
        let Some(step) = ctx.frame().step.get().filter(|_| self.plane.return_permission_errors) else { return refusal };
        let answer = Answer::blocked(reason);
        let recorded = ctx.recorded(JournalMethod::Promise, approval_of(step), async { Ok(answer) }).await;
        recorded.map_or_else(|error| error, |_| refusal)
    }
}

/// Reads an answer that is recorded.
async fn recorded_answer(ctx: &CallContext, step: StepSpec) -> Result<Answer, CallError> {
    let tool = ctx.name().to_owned();
    // Not reached: records are never removed while a run goes on.
    let missing = async { Err(CallError::Cancelled { tool }) };
    let StepOutcome { value, .. } = ctx.recorded(JournalMethod::Promise, step, missing).await?;
    Ok(value)
}
