//! Recorded approvals, applied when a run is resumed.
//!
//! An answer of the approver holds until its call begins, which uses it up: see [`begun`](super::super::begun). An
//! approval by a mode, a rule or the session's memory holds for its process only. It is not recorded, so the call is
//! decided again, unless its result is recorded and nothing runs.

use std::sync::Arc;

use serde_json::Value;

use super::super::Run;
use super::super::decode::{decode, decode_async};
use super::report::emit_refused_edit;
use super::review::recount_review;
use super::{MAX_ROUNDS, emit_decision, first_round};
use crate::base::error::{CallError, Fault};
use crate::observe::event::{ApprovalScope, Caller, DecidedBy, RuleSource};
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::approval::{Approval, ApprovalRequest, LastingApproval, LazyRequest};
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
use crate::plane::registry::{Prepared, Registered};

/// A call with a recorded result, a recorded answer, or both.
pub(in crate::plane::dispatch) struct RecordedCall {
    has_result: bool,
    /// The step of the recorded answer.
    approval: Option<StepSpec>,
}

impl RecordedCall {
    /// Looks up a call in the journal; returns `None` if neither a result nor an answer is recorded.
    ///
    /// `round` is the 0-based number of the decision about the call.
    pub(in crate::plane::dispatch) fn find(ctx: &CallContext, round: u32) -> Option<Self> {
        let (journal, step) = (ctx.journal()?, ctx.frame().step.get()?);
        // The step of a root call is the step of its run, which is recorded when it begins.
        let has_result = ctx.frame().by != Caller::User && journal.is_recorded(&step.key);
        let approval = Some(approval_step(step, round)).filter(|approval| journal.is_recorded(&approval.key));
        (has_result || approval.is_some()).then_some(Self { has_result, approval })
    }
}

impl RecordedCall {
    /// Returns whether an answer is recorded.
    pub(in crate::plane::dispatch) fn has_answer(ctx: &CallContext, round: u32) -> bool {
        Self::find(ctx, round).is_some_and(|recorded| recorded.approval.is_some())
    }
}

/// Returns the step of an answer about a call; `round` is the 0-based number of the request.
pub(in crate::plane::dispatch) fn approval_step(call: &StepSpec, round: u32) -> StepSpec {
    match round {
        0 => call.within(StepKind::Approval, "approval"),
        round => call.within(StepKind::Approval, &format!("approval:{round}")),
    }
}

impl Run {
    /// Decides about a call by its records; returns false if the call still needs a decision.
    pub(in crate::plane::dispatch) async fn decide_as_recorded(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        recorded: RecordedCall,
        attempt: u32,
    ) -> Result<bool, CallError> {
        let Some(edited) = self.recorded_decision(ctx, tool, prepared, recorded).await? else { return Ok(false) };
        self.apply_edit(ctx, tool, prepared, edited, attempt).await.map(|()| true)
    }

    /// Applies the edits of the answers that were used up when this attempt of the call began, since the next answer is
    /// about the arguments with which it began.
    pub(in crate::plane::dispatch) async fn repeat_edits(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        attempt: u32,
    ) -> Result<(), CallError> {
        for round in first_round(attempt)..=first_round(attempt) + MAX_ROUNDS {
            let Some(answer) = used_up_answer(ctx, round).await? else { return Ok(()) };
            self.remember_recorded(ctx, tool, prepared, &answer)?;
            let Some(edited) = answer.edited_arguments().cloned() else { return Ok(()) };
            *prepared = decode_async(ctx, tool, edited).await?;
            if !self.guard_edit(ctx, tool, prepared).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Applies the recorded decision about a call; returns the arguments with which the approver replaced those of the
    /// call.
    ///
    /// Returns `None` if the call still needs a decision.
    pub(super) async fn recorded_decision(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        recorded: RecordedCall,
    ) -> Result<Option<Option<Value>>, CallError> {
        let RecordedCall { has_result, approval } = recorded;
        let answer = match approval {
            Some(step) => Some(recorded_answer(ctx, step).await?),
            None => None,
        };
        match answer {
            Some(answer) if has_result || (answer.is_lasting() && self.holds(ctx, tool, &answer)) => {
                self.apply_recorded(ctx, tool, prepared, answer, has_result).map(Some)
            }
            None if has_result => {
                self.approve_as_run(ctx, tool);
                Ok(Some(None))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether a recorded answer was given for the current environment of the call.
    fn holds(&self, ctx: &CallContext, tool: &Registered, answer: &Approval) -> bool {
        answer.environment.is_none() || answer.holds_for(&self.environment(ctx, Some(tool)))
    }

    /// Reports the approval of a call with a recorded result, with the original rule if it is known without applying
    /// the rules.
    fn approve_as_run(&self, ctx: &CallContext, tool: &Registered) {
        let rule = self.approvals().pre_approved(tool).unwrap_or(&RuleSource::Journal);
        emit_decision(ctx, rule, &Approval::approved(DecidedBy::Policy), true);
    }

    /// Applies a recorded answer to a call; a call without a recorded result is also checked against the rules.
    ///
    /// Returns the arguments with which the approver replaced those of the call.
    pub(in crate::plane::dispatch) fn apply_recorded(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &Prepared,
        answer: Approval,
        has_result: bool,
    ) -> Result<Option<Value>, CallError> {
        let invalid = |fault: Fault| CallError::invalid(tool.name(), fault);
        self.remember_recorded(ctx, tool, prepared, &answer)?;
        let edited = answer.edited_arguments().map(|edited| decode(tool, Ok(edited.clone().into()))).transpose()?;
        let was_approved = answer.is_approved();
        let (rule, answer) = if has_result || !was_approved {
            (RuleSource::Journal, answer)
        } else if self.is_users(ctx) {
            (RuleSource::User, self.approvals().rechecked_mode(answer))
        } else {
            let request = || self.request(ctx, tool, edited.as_ref().unwrap_or(prepared));
            self.approvals().recheck(tool, ctx.frame().by, &mut LazyRequest::new(&request), answer).map_err(invalid)?
        };
        let is_replayed = answer.is_approved() == was_approved;
        if let (Some(reason), Some(edited), false) = (answer.block_reason(), &edited, is_replayed) {
            emit_refused_edit(ctx, edited, &rule, reason);
        }
        emit_decision(ctx, &rule, &answer.masked(tool), is_replayed);
        answer.into_edit(tool.name())
    }

    /// Counts what the review of a recorded answer used, and remembers the answer if it is an approval that holds for more than its
    /// call.
    fn remember_recorded(
        &self,
        ctx: &CallContext,
        tool: &Registered,
        prepared: &Prepared,
        answer: &Approval,
    ) -> Result<(), CallError> {
        recount_review(ctx, answer);
        if answer.scope != ApprovalScope::Call && self.holds(ctx, tool, answer) {
            let mut request =
                self.request(ctx, tool, prepared).map_err(|fault| CallError::invalid(tool.name(), fault))?;
            request.environment = Some(self.environment(ctx, Some(tool)));
            self.remember(ctx, &request, answer.scope);
        }
        Ok(())
    }

    /// Remembers a recorded approval, and stores it in the records of the calls around it.
    pub(in crate::plane::dispatch) fn remember(
        &self,
        ctx: &CallContext,
        request: &ApprovalRequest,
        scope: ApprovalScope,
    ) {
        keep_approval(ctx, request, scope);
        if let Some(approval) = LastingApproval::from_request(request, scope) {
            self.approvals().remember(approval, &self.approved);
        }
    }

    /// Remembers an approval that was given inside a call with a recorded result.
    pub(in crate::plane::dispatch) fn restore_approval(&self, ctx: &CallContext, recorded: &Value) {
        ctx.add_approval(recorded);
        // If the record cannot be read, the approver is asked again.
        if let Ok(approval) = serde_json::from_value(recorded.clone()) {
            self.approvals().remember(approval, &self.approved);
        }
    }

    /// Returns whether a model made the call, and continues with the denial as its result.
    pub(super) fn returns_denials_to(&self, ctx: &CallContext) -> bool {
        ctx.frame().by == Caller::Model && !self.ends_on_denial()
    }

    /// Records that a rule blocked a call, if the caller continues after it: a replay must continue in the same way.
    ///
    /// If code receives the refusal, it is recorded once the code continues. Returns the refusal, or the error of
    /// recording it. `round` is the 0-based number of the decision about the call.
    pub(in crate::plane::dispatch) async fn record_refusal(
        &self,
        ctx: &CallContext,
        refusal: CallError,
        round: u32,
    ) -> CallError {
        let CallError::Blocked { reason, .. } = &refusal else { return refusal };
        let Some(step) = ctx.frame().step.get() else { return refusal };
        let answer = Approval::blocked(reason);
        if !self.returns_denials_to(ctx) {
            keep_denial(ctx, approval_step(step, round), &answer);
            return refusal;
        }
        let recorded = ctx.recorded(JournalMethod::Decision, approval_step(step, round), async { Ok(answer) }).await;
        recorded.map_or_else(|error| error, |_| refusal)
    }
}

/// Stores an approval that holds for more than one call in the records of the calls around it.
pub(super) fn keep_approval(ctx: &CallContext, request: &ApprovalRequest, scope: ApprovalScope) {
    let approval = LastingApproval::from_request(request, scope).filter(|_| ctx.journal().is_some());
    if let Some(approval) = approval.and_then(|approval| serde_json::to_value(approval).ok()) {
        ctx.add_approval(&approval);
    }
}

/// Stores a denial with the caller, which records it if it continues.
pub(super) fn keep_denial(ctx: &CallContext, step: StepSpec, answer: &Approval) {
    if let (Some(caller), Ok(answer)) = (ctx.caller(), serde_json::to_value(answer)) {
        caller.add_denial(step, answer);
    }
}

/// Returns the recorded answer of a round, if any.
pub(in crate::plane::dispatch) async fn used_up_answer(
    ctx: &CallContext,
    round: u32,
) -> Result<Option<Approval>, CallError> {
    match RecordedCall::find(ctx, round) {
        Some(RecordedCall { approval: Some(step), .. }) => recorded_answer(ctx, step).await.map(Some),
        _ => Ok(None),
    }
}

/// Reads a recorded answer.
async fn recorded_answer(ctx: &CallContext, step: StepSpec) -> Result<Approval, CallError> {
    let tool = ctx.name().to_owned();
    // Unreachable: records are never removed during a run.
    let missing = async { Err(CallError::Cancelled { tool }) };
    let StepOutcome { value, .. } = ctx.recorded(JournalMethod::Decision, step, missing).await?;
    Ok(value)
}
