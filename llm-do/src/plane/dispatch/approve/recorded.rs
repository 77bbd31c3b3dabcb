//! What a journal holds about the approval of a call, when a run is resumed.
//!
//! A person's answer lasts. An approval by a mode, a rule or the session's memory holds for its process only, so it is not
//! recorded and decided again, unless the call's result is recorded: then nothing runs and no decision is needed.

use std::sync::Arc;

use serde_json::Value;

use super::super::Run;
use super::super::perform::decode;
use super::{decided, permitted, request, told};
use crate::base::error::{CallError, Fault};
use crate::observe::event::{ApprovalScope, DecidedBy, RuleSource};
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::approval::{Answer, ApprovalRequest, LastingApproval};
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
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
        let approval = Some(approval_of(step, 0)).filter(|approval| journal.is_recorded(&approval.key));
        (has_result || approval.is_some()).then_some(Self { has_result, approval })
    }
}

/// Returns the step of the answer about a call; `round` counts the questions, from 0.
pub(super) fn approval_of(call: &StepSpec, round: u32) -> StepSpec {
    match round {
        0 => call.within(StepKind::Approval, "approval"),
        round => call.within(StepKind::Approval, &format!("approval:{round}")),
    }
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
                let edited = self.apply_recorded(ctx, tool, prepared, answer, has_result)?;
                self.settle_edit(ctx, tool, prepared, edited, has_result).await?;
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
    ///
    /// Returns the arguments that were put in the place of the call's.
    pub(super) fn apply_recorded(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &Prepared,
        answer: Answer,
        has_result: bool,
    ) -> Result<Option<Value>, CallError> {
        let invalid = |fault: Fault| CallError::invalid(tool.name(), fault);
        if answer.scope != ApprovalScope::Call {
            let request = request(ctx, tool, prepared).map_err(invalid)?;
            self.remember(ctx, &request, answer.scope);
        }
        let edited = answer.edited_arguments().map(|edited| decode(tool, Ok(edited.clone()), true)).transpose()?;
        let (rule, answer) = if has_result || !answer.is_approved() {
            (RuleSource::Journal, answer)
        } else {
            let request = || request(ctx, tool, edited.as_ref().unwrap_or(prepared));
            self.approvals().recheck(tool, ctx.frame().by, &request, answer).map_err(invalid)?
        };
        decided(ctx, &rule, &told(tool, &answer));
        permitted(tool, answer)
    }

    /// Remembers an approval that is recorded, and keeps it with the calls that it was given in.
    pub(in crate::plane::dispatch) fn remember(
        &self,
        ctx: &CallContext,
        request: &ApprovalRequest,
        scope: ApprovalScope,
    ) {
        keep_approval(ctx, request, scope);
        if let Some(approval) = LastingApproval::of(request, scope) {
            self.approvals().remember(approval, &self.approved);
        }
    }

    /// Remembers an approval that was given in a call whose result is recorded.
    pub(in crate::plane::dispatch) fn restore_approval(&self, ctx: &CallContext, recorded: &Value) {
        ctx.add_approval(recorded);
        // What cannot be read is asked about again.
        if let Ok(approval) = serde_json::from_value(recorded.clone()) {
            self.approvals().remember(approval, &self.approved);
        }
    }

    /// Records that a rule refused a call, if a model is told of it and goes on: a replay must go on in the same way.
    ///
    /// If code is told, it is recorded once the code goes on. Returns the refusal, or why it cannot be recorded.
    pub(in crate::plane::dispatch) async fn record_refusal(&self, ctx: &CallContext, refusal: CallError) -> CallError {
        let CallError::Blocked { reason, .. } = &refusal else { return refusal };
        let Some(step) = ctx.frame().step.get() else { return refusal };
        let answer = Answer::blocked(reason);
        if !self.plane.return_permission_errors {
            keep_denial(ctx, approval_of(step, 0), &answer);
            return refusal;
        }
        let recorded = ctx.recorded(JournalMethod::Promise, approval_of(step, 0), async { Ok(answer) }).await;
        recorded.map_or_else(|error| error, |_| refusal)
    }
}

/// Keeps an approval that holds for longer than one call with the calls that it was given in.
pub(super) fn keep_approval(ctx: &CallContext, request: &ApprovalRequest, scope: ApprovalScope) {
    let approval = LastingApproval::of(request, scope).filter(|_| ctx.journal().is_some());
    if let Some(approval) = approval.and_then(|approval| serde_json::to_value(approval).ok()) {
        ctx.add_approval(&approval);
    }
}

/// Keeps a denial with the caller, which records it if it goes on.
pub(super) fn keep_denial(ctx: &CallContext, step: StepSpec, answer: &Answer) {
    if let (Some(caller), Ok(answer)) = (ctx.caller(), serde_json::to_value(answer)) {
        caller.add_denial(step, answer);
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
