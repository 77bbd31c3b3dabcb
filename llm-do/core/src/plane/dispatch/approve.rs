//! The approval of an admitted call: applies its rule, and asks the approver if the rule requires it.

mod environment;
mod overview;
mod preview;
mod recorded;
mod report;
mod request;
mod review;

use std::pin::pin;
use std::sync::Arc;

use jiff::Timestamp;
use llm_do_providers::Unpriced;
use serde_json::Value;

pub(super) use self::recorded::{RecordedCall, approval_step, used_up_answer};
use self::recorded::{keep_approval, keep_denial};
use self::report::RequestReports;
pub(super) use self::report::emit_decision;
pub(super) use self::request::{approval_key, set_caller};
pub(super) use self::review::open_review;
use super::begun::{decide_begun, unfinished};
use super::decode::decode_async;
use super::guard::run_guards;
use super::limits::refuse_cycle;
use super::pipeline::Call;
use super::unknown::Resumed;
use super::{Plane, Run};
use crate::base::error::CallError;
use crate::observe::event::{Caller, DecidedBy, RuleSource};
use crate::plane::approval::{AppliedRule, Approval, ApprovalRequest, LazyRequest, Reviewer, SubmittedRequest};
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
use crate::plane::model_choice::ChosenModel;
use crate::plane::registry::{Prepared, Registered, WorkerPlan};

/// Why a call is denied that needs approval where neither a person nor a reviewer can be asked.
pub(super) const CANNOT_ASK: &str =
    "a shadow cannot ask for approval, and neither can a review: it may only use what is pre-approved";

/// The maximum number of times that guards may change the approver's arguments for one call; stops a guard that always
/// changes them.
const MAX_ROUNDS: u32 = 10;

/// Returns the number of the first request in an attempt of a call; attempts are numbered from 0.
pub(super) fn first_round(attempt: u32) -> u32 {
    attempt * (MAX_ROUNDS + 1)
}

/// Decides about a call. If it began before and has no result, its approval is asked for again. A call that a dry run
/// has judged needs no decision.
#[inline]
pub(super) async fn check(call: &mut Call<'_>, prepared: &mut Prepared) -> Result<(), CallError> {
    if call.judgment.is_some() {
        return Ok(());
    }
    if let Some(begun) = unfinished(call.ctx, &call.tool) {
        match Box::pin(decide_begun(call.run, call.ctx, &call.tool, prepared, begun)).await? {
            Resumed::Attempt(attempt) => call.attempt = attempt,
            Resumed::Settled(settled) => call.settled = Some(settled),
        }
        return Ok(());
    }
    call.run.decide(call.ctx, &call.tool, prepared, 0).await
}

impl Run {
    /// Decides about a call; if it is journaled, records a refusal.
    ///
    /// `attempt` is its 0-based number.
    #[inline]
    pub(super) async fn decide(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        attempt: u32,
    ) -> Result<(), CallError> {
        let is_journaled = ctx.frame().by != Caller::User && ctx.frame().step.get().is_some();
        if is_journaled
            && let Some(recorded) = RecordedCall::find(ctx, first_round(attempt))
            && Box::pin(self.decide_as_recorded(ctx, tool, prepared, recorded, attempt)).await?
        {
            return Ok(());
        }
        match self.check_rules(ctx, tool, prepared) {
            Ok(None) => Ok(()),
            Ok(Some(request)) => Box::pin(self.approve(ctx, tool, prepared, request, attempt)).await,
            Err(refusal) if is_journaled => {
                Err(Box::pin(self.record_refusal(ctx, refusal, first_round(attempt))).await)
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Applies the rules to a call; returns the request for the approval that it needs, if any.
    pub(super) fn check_rules(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &Prepared,
    ) -> Result<Option<Box<ApprovalRequest>>, CallError> {
        let by_user = Some(&RuleSource::User).filter(|_| self.is_users(ctx));
        // In the common case, no arguments are serialized, and no request is built.
        if let Some(source) = by_user.or_else(|| self.approvals().pre_approved(tool)) {
            emit_decision(ctx, source, &Approval::approved(DecidedBy::Policy), false);
            return Ok(None);
        }
        let invalid = |fault| CallError::invalid(tool.name(), fault);
        let build = || self.request(ctx, tool, prepared);
        let mut request = LazyRequest::new(&build);
        let rule = self.approvals().rule(tool, ctx.frame().by, &mut request).map_err(invalid)?;
        let Some(approval) = decided(ctx, &rule) else {
            return request.into_request(rule.source.clone()).map(Some).map_err(invalid);
        };
        emit_decision(ctx, &rule.source, &approval, false);
        approval.into_edit(tool.name()).map(|_| None)
    }

    /// Returns the request for a call that `began` before and may have had its effect; `None` if no person may have it
    /// repeated. No rule approves such a call.
    pub(super) fn request_again(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &Prepared,
        (began, approved_by): (Timestamp, DecidedBy),
    ) -> Result<Option<Box<ApprovalRequest>>, CallError> {
        let invalid = |fault| CallError::invalid(tool.name(), fault);
        let build = || self.request(ctx, tool, prepared);
        let mut request = LazyRequest::new(&build);
        let source = if self.is_users(ctx) {
            RuleSource::User
        } else {
            let rule = self.approvals().rule(tool, ctx.frame().by, &mut request).map_err(invalid)?;
            if decided(ctx, &rule).is_some_and(|approval| !approval.is_approved()) {
                return Ok(None);
            }
            rule.source.clone()
        };
        let mut request = request.into_request(source).map_err(invalid)?;
        request.began = Some(began);
        request.approved_by = Some(approved_by);
        request.result_schema = tool.result_schema();
        let is_attended = self.approvals().asks_what_happened(tool, ctx.frame().by, &request);
        Ok(Some(request).filter(|_| is_attended))
    }

    /// Returns whether the user makes the call, so that no rule applies to it.
    pub(super) fn is_users(&self, ctx: &CallContext) -> bool {
        ctx.frame().by == Caller::User && !self.settings.gates_root
    }

    /// Asks for the approval that a call needs; the approver may replace the arguments.
    ///
    /// `attempt` is the 0-based number of the attempt of the call.
    pub(super) async fn approve(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        request: Box<ApprovalRequest>,
        attempt: u32,
    ) -> Result<(), CallError> {
        self.check_first_request(ctx, tool)?;
        let edited = self.ask_once(ctx, tool, prepared, request, first_round(attempt)).await?;
        self.apply_edit(ctx, tool, prepared, edited, attempt).await
    }

    /// Submits one request; returns the arguments with which the approver replaced those of the call.
    ///
    /// `round` is the 0-based number of the request among those for one call.
    async fn ask_once(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        request: Box<ApprovalRequest>,
        round: u32,
    ) -> Result<Option<Value>, CallError> {
        let rule = request.rule.clone();
        let StepOutcome { value: answer, is_replayed } = self.submit(ctx, tool, request, round).await?;
        if is_replayed {
            return self.apply_recorded(ctx, tool, prepared, answer, false);
        }
        emit_decision(ctx, &rule, &answer.masked(tool), false);
        answer.into_edit(tool.name())
    }

    /// Submits one request; returns the answer.
    ///
    /// `round` is the 0-based number of the request among those for one call.
    pub(super) async fn submit(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        mut request: Box<ApprovalRequest>,
        round: u32,
    ) -> Result<StepOutcome<Approval>, CallError> {
        request.key = approval_key(ctx, round);
        request.environment = Some(self.environment(ctx, Some(tool)));
        request.is_asked_again = RecordedCall::has_answer(ctx, round);
        let preview = preview::of(ctx, tool, &request);
        let submitted = {
            let open = |reviewer: Option<&Arc<Reviewer>>| open_review(ctx, round, reviewer);
            let (by, journal) = (ctx.frame().by, ctx.journal());
            self.approvals().submit(tool, by, *request, &self.approved, journal, (preview, &open))
        };
        self.ask(ctx, submitted, round).await
    }

    /// Replaces the arguments with those of the approver, if any, after the guards have seen them.
    ///
    /// A guard may refuse them, as it may refuse the original arguments. If a guard changes them, the approver is asked
    /// again: only approved arguments run.
    pub(super) async fn apply_edit(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        mut edited: Option<Value>,
        attempt: u32,
    ) -> Result<(), CallError> {
        for round in first_round(attempt) + 1..=first_round(attempt) + MAX_ROUNDS {
            let Some(arguments) = edited else { return Ok(()) };
            *prepared = decode_async(ctx, tool, arguments).await?;
            let is_changed = self.guard_edit(ctx, tool, prepared).await?;
            refuse_cycle(ctx, tool, prepared)?;
            if !is_changed {
                return Ok(());
            }
            if let Some(recorded) = RecordedCall::find(ctx, round)
                && let Some(decided) = self.recorded_decision(ctx, tool, prepared, recorded).await?
            {
                edited = decided;
                continue;
            }
            let request = match self.check_rules(ctx, tool, prepared) {
                Ok(request) => request,
                Err(refusal) => return Err(Box::pin(self.record_refusal(ctx, refusal, round)).await),
            };
            let Some(mut request) = request else { return Ok(()) };
            request.problem =
                Some("guards changed the edited arguments; the call would run with the ones shown here".into());
            edited = self.ask_once(ctx, tool, prepared, request, round).await?;
        }
        let reason = format!("guards changed the approver's arguments {MAX_ROUNDS} times");
        Err(CallError::Denied { tool: tool.name().to_owned(), reason, stops: false })
    }

    /// Runs the guards on the approver's arguments; returns whether a guard changed them.
    async fn guard_edit(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
    ) -> Result<bool, CallError> {
        let Some(guards) = self.guards(ctx) else { return Ok(false) };
        Box::pin(run_guards(guards, ctx, tool, prepared)).await
    }

    /// Refuses a worker call before the approver is asked, if its first request to the model would be refused.
    fn check_first_request(&self, ctx: &CallContext, tool: &Registered) -> Result<(), CallError> {
        let Some(plan) = tool.plan() else { return Ok(()) };
        let model = self.plane.model_plan(plan, ctx)?.model;
        ctx.check_request(&model.name, || self.plane.unpriced(plan, &model))
    }

    /// Reports an approval request once it can be found, and waits for its answer, unless the journal has the answer.
    ///
    /// The answers of the approver are recorded, and denials after which a model or code continues. A mode or rule
    /// decides again when the run is resumed, and a call without a decision is asked about again.
    ///
    /// `round` is the 0-based number of the request among those for one call.
    pub(super) async fn ask(
        &self,
        ctx: &CallContext,
        submitted: SubmittedRequest,
        round: u32,
    ) -> Result<StepOutcome<Approval>, CallError> {
        let (request, announced) = (Arc::clone(&submitted.request), submitted.announced.clone());
        let mut reports = RequestReports::new(ctx, &submitted);
        let step = ctx.frame().step.get().map(|step| approval_step(step, round));
        let fresh = |value| StepOutcome { value, is_replayed: false };
        let _paused = submitted.is_pending().then(|| ctx.pause_for_person());
        let answer = async {
            let Some(step) = step else { return Ok(fresh(answer_of(submitted, round).await)) };
            let (again, denied) = (submitted.clone(), step.clone());
            let keeps_denials = self.returns_denials_to(ctx);
            let is_recorded = move |answer: &Approval| {
                answer.by.is_judgment() || (keeps_denials && !answer.is_approved() && !answer.stops)
            };
            let asked = async move {
                let environment = submitted.request.environment.clone();
                let mut answer = answer_of(submitted, round).await;
                if answer.is_approved() {
                    answer.environment = environment;
                }
                Ok(answer)
            };
            let came = ctx.recorded_if(JournalMethod::Decision, step, asked, is_recorded).await?;
            let holds = || request.environment.as_ref().is_none_or(|environment| came.value.holds_for(environment));
            if came.is_replayed {
                if !(came.value.is_lasting() && holds()) {
                    // An older journal may contain an approval by a mode or rule. A recorded approval may also be for a
                    // different environment.
                    return Ok(fresh(answer_of(again, round).await));
                }
            } else if is_recorded(&came.value) {
                keep_approval(ctx, &request, came.value.scope);
            } else if !came.value.is_approved() && (request.began.is_none() || !came.value.is_undecided()) {
                // A call that may have had its effect is then reported, which is recorded.
                keep_denial(ctx, denied, &came.value);
            }
            Ok(came)
        };
        let (mut stopped, mut answer) = (pin!(ctx.stopped()), pin!(answer));
        let ended = loop {
            tokio::select! {
                biased;
                error = &mut stopped => break match error {
                    CallError::Cancelled { .. } => Ok(fresh(Approval::denied("the run was cancelled", DecidedBy::Cancellation))),
                    late => Err(late),
                },
                // Reported only now, so that a client that follows events finds the request.
                () = announced.cancelled(), if !reports.has_request => reports.request(),
                () = reports.next_edit() => {}
                answer = &mut answer => break answer,
            }
        };
        reports.finish();
        ended
    }
}

/// Returns the decision of a rule about a call; `None` if the call needs approval. A call of a shadow or of a review never asks the
/// approver.
pub(super) fn decided(ctx: &CallContext, rule: &AppliedRule) -> Option<Approval> {
    // Otherwise, a model that continued without the call would be compared with one that made it.
    let denied = || Approval::undecided(CANNOT_ASK);
    rule.approval().or_else(|| ctx.frame().is_unattended().then(denied))
}

/// Waits for the answer to a request.
///
/// From the second request of an attempt on, an approval includes the arguments, so that the last approval contains the
/// arguments that ran.
async fn answer_of(submitted: SubmittedRequest, round: u32) -> Approval {
    let request = Arc::clone(&submitted.request);
    let mut answer = submitted.approval().await;
    if !round.is_multiple_of(MAX_ROUNDS + 1) {
        answer.set_arguments(&request);
    }
    answer
}

impl Plane {
    /// Returns the charges of a worker's request that have no known price; `None` if the price of the model is unknown.
    pub(super) fn unpriced(&self, plan: &WorkerPlan, model: &ChosenModel) -> Option<Unpriced> {
        let permitted = plan.server_side_tools.iter().filter(|tool| !self.approvals.blocks_server_side(tool));
        let tools: Vec<_> = permitted.cloned().collect();
        let settings = plan.settings.clone().over(&self.config.settings);
        model.price().map(|price| price.unpriced(&tools, settings.priced_tier()))
    }
}
