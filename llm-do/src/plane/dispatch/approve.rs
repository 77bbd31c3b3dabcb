//! Whether an admitted call may run: what its rule says, or whom it has asked.

mod recorded;

use std::sync::{Arc, OnceLock};

use serde_json::Value;

pub(super) use self::recorded::RecordedCall;
use self::recorded::{approval_of, keep_approval, keep_denial};
use super::Run;
use super::admit::refuse_cycle;
use super::perform::decode_apart;
use crate::base::error::{CallError, Fault};
use crate::observe::event::{Caller, DecidedBy, EventKind, RuleSource};
use crate::plane::approval::{Answer, ApprovalRequest, Proposal, Question, State, Verdict};
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
use crate::plane::registry::{Prepared, Registered};

/// How often guards may change what an approver gave, before a guard that never leaves it alone is stopped.
const MAX_ROUNDS: u32 = 10;

/// Which question about a call it is.
#[derive(Clone, Copy, Default)]
struct Round {
    /// From 0.
    number: u32,
    /// Whether the journal has the result of the call.
    has_result: bool,
}

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
        self.could_begin(ctx, tool)?;
        let edited = self.answered(ctx, tool, prepared, asked, Round::default()).await?;
        self.settle_edit(ctx, tool, prepared, edited, false).await
    }

    /// Asks one question; returns the arguments that were put in the place of the call's.
    async fn answered(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        asked: Asked,
        round: Round,
    ) -> Result<Option<Value>, CallError> {
        let Asked { source, request } = asked;
        let question = self.approvals().question(tool, ctx.frame().by, *request, &self.approved);
        let StepOutcome { value: answer, is_replayed } = self.ask(ctx, question, round.number).await?;
        if is_replayed {
            return self.apply_recorded(ctx, tool, prepared, answer, round.has_result);
        }
        decided(ctx, &source, &told(tool, &answer));
        permitted(tool, answer)
    }

    /// Shows guards what an approver put in the place of the arguments, if they did.
    ///
    /// A guard may refuse it like the arguments before. If one changes it, the approver is asked about that: what is approved
    /// is what runs.
    pub(super) async fn settle_edit(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        mut edited: Option<Value>,
        has_result: bool,
    ) -> Result<(), CallError> {
        for number in 1..=MAX_ROUNDS {
            let Some(arguments) = edited else { return Ok(()) };
            *prepared = decode_apart(ctx, tool, arguments, true).await?;
            let is_changed = self.show_edit(ctx, tool, prepared).await?;
            refuse_cycle(ctx, tool, prepared)?;
            let Some(mut asked) = self.ruled_again(ctx, tool, prepared, is_changed)? else { return Ok(()) };
            asked.request.problem =
                Some("guards changed the arguments that were given: these are what would run".into());
            edited = self.answered(ctx, tool, prepared, *asked, Round { number, has_result }).await?;
        }
        let reason = format!("guards changed what the approver gave {MAX_ROUNDS} times");
        Err(CallError::Denied { tool: tool.name().to_owned(), reason })
    }

    /// Finds what the rules say of arguments that guards changed after they were approved.
    fn ruled_again(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &Prepared,
        is_changed: bool,
    ) -> Result<Option<Box<Asked>>, CallError> {
        if is_changed { self.ruled(ctx, tool, prepared) } else { Ok(None) }
    }

    /// Shows guards what an approver gave; returns whether one changed it.
    async fn show_edit(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
    ) -> Result<bool, CallError> {
        let Some(guards) = self.plane.guards(ctx) else { return Ok(false) };
        Box::pin(self.show(guards, ctx, tool, prepared)).await
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
    /// Only the approver's answers are recorded, and denials after which a model or code continues. A mode or rule decides
    /// again when the run is resumed.
    ///
    /// `round` counts the questions about one call, from 0.
    pub(super) async fn ask(
        &self,
        ctx: &CallContext,
        question: Question,
        round: u32,
    ) -> Result<StepOutcome<Answer>, CallError> {
        let request = Arc::clone(&question.request);
        ctx.emit(|| EventKind::ApprovalAsked {
            summary: request.summary(),
            arguments: request.arguments.clone(),
            given: request.given_in_events(),
            position: request.position,
            total: if request.position == 0 { 0 } else { request.total() },
        });
        let step = ctx.frame().step.get().map(|step| approval_of(step, round));
        let fresh = |value| StepOutcome { value, is_replayed: false };
        let answer = async {
            let Some(step) = step else { return Ok(fresh(answer_to(question, round).await)) };
            let (again, denied) = (question.clone(), step.clone());
            let unrecorded = Arc::new(OnceLock::new());
            let (left, tool) = (Arc::clone(&unrecorded), ctx.name().to_owned());
            let keeps_denials = self.plane.return_permission_errors;
            let asked = async move {
                let answer = answer_to(question, round).await;
                if answer.by == DecidedBy::Approver || (keeps_denials && !answer.is_approved()) {
                    return Ok(answer);
                }
                drop(left.set(answer));
                Err(CallError::Cancelled { tool })
            };
            let came: StepOutcome<Answer> = match ctx.recorded(JournalMethod::Promise, step, asked).await {
                Ok(came) => came,
                Err(error) => {
                    let answer = unrecorded.get().cloned().ok_or(error)?;
                    if !answer.is_approved() {
                        keep_denial(ctx, denied, &answer);
                    }
                    return Ok(fresh(answer));
                }
            };
            if !came.is_replayed {
                keep_approval(ctx, &request, came.value.scope);
            }
            if came.is_replayed && !came.value.lasts() {
                // What a mode or rule approved in an older journal.
                return Ok(fresh(answer_to(again, round).await));
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

/// Waits for the answer to a question; from the second about a call on, it names the arguments, so that the last tells what ran.
async fn answer_to(question: Question, round: u32) -> Answer {
    let request = Arc::clone(&question.request);
    let mut answer = question.answer().await;
    if round > 0 {
        answer.runs_with(&request);
    }
    answer
}

/// Returns an answer as events tell it: an edit in the form that its types write, which may hide a secret.
fn told(tool: &Registered, answer: &Answer) -> Answer {
    let shown = |edited: &Value| -> Option<Value> {
        let decoded = Prepared::decode(tool, edited.clone(), true).ok()?;
        Some(decoded.arguments().ok()?.into_owned())
    };
    let mut told = answer.clone();
    if let Verdict::Approved(Some(edited)) = &mut told.verdict
        && !tool.is_checked_slowly(edited)
        && let Some(shown) = shown(edited)
    {
        *edited = shown;
    }
    told
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
