//! Decides about a call with an unknown outcome: it began before, and its result is not recorded.
//!
//! In this order: the [settlement](crate::observe::journal::Settlement) by a person, the recorded answer of the
//! approver, the tool of `reconcile`, which finds out whether the call has happened, and the [setting](OnUnknown) of
//! the tool.

use std::sync::Arc;
use std::time::Duration;

use futures_timer::Delay;
use jiff::Timestamp;
use serde_json::Value;

use super::Run;
use super::approve::{RecordedCall, emit_decision, first_round, used_up_answer};
use super::begun::BegunCall;
use super::pipeline::CallResult;
use crate::base::delay::within;
use crate::base::error::CallError;
use crate::declare::tool::OnUnknown;
use crate::observe::event::{Caller, RuleSource};
use crate::observe::journal::Settlement;
use crate::plane::context::{CallContext, CallFrame, GivenArguments, NO_RESULT, StepOutcome};
use crate::plane::declared::Callee;
use crate::plane::registry::{Prepared, Registered};

/// The maximum wait of a call that may have had its effect for the recorded calls that its caller made without its
/// result.
const LATER_STEPS: Duration = Duration::from_secs(1);
/// The interval in which the wait checks the journal for those calls.
const POLL: Duration = Duration::from_millis(1);

/// The decision about a call that began before.
pub(super) enum Resumed {
    /// It runs, as the attempt with this 0-based number.
    Attempt(u32),
    /// It does not run.
    Settled(Settled),
}

/// The known outcome of a call that does not run.
pub(super) enum Settled {
    /// It has happened, with this result.
    Happened(Value),
    /// Its outcome is unknown; it last began at this time.
    Unknown(Timestamp),
}

impl Settled {
    /// Returns the result for the caller of `tool`.
    pub(super) fn into_result(self, tool: &str) -> CallResult {
        match self {
            Self::Happened(result) => Ok(result.into()),
            Self::Unknown(began) => {
                Err(CallError::OutcomeUnknown { tool: tool.to_owned(), began, reason: NO_RESULT.to_owned() })
            }
        }
    }
}

/// Decides about a call that began before, and that is not replayed through its steps.
pub(super) async fn decide_unknown(
    run: &Run,
    ctx: &CallContext,
    tool: &Arc<Registered>,
    prepared: &mut Prepared,
    begun: &BegunCall,
) -> Result<Resumed, CallError> {
    let attempts = begun.attempts;
    for attempt in 0..attempts {
        run.repeat_edits(ctx, tool, prepared, attempt).await?;
    }
    wait_for_later_steps(ctx).await;
    let happened = |result| Ok(Resumed::Settled(Settled::Happened(result)));
    match settlement(ctx, attempts).await? {
        Some(Settlement::Result(result)) => return happened(result),
        Some(Settlement::NotDone) => return run_again(run, ctx, tool, prepared, attempts).await,
        None => {}
    }
    if let Some(result) = recorded_result(ctx, attempts).await? {
        return happened(result);
    }
    let recorded = RecordedCall::find(ctx, first_round(attempts));
    if let Some(recorded) = recorded
        && run.decide_as_recorded(ctx, tool, prepared, recorded, attempts).await?
    {
        return Ok(Resumed::Attempt(attempts));
    }
    let given = tool.reconcile().and_then(|_| prepared.arguments().ok());
    let arguments = given.map(|arguments| arguments.value().clone());
    match reconciled(ctx, tool, arguments).await {
        Some(Value::Null) => return run_again(run, ctx, tool, prepared, attempts).await,
        Some(result) => return happened(result),
        None => {}
    }
    match tool.on_unknown().unwrap_or(run.plane.config.on_unknown) {
        OnUnknown::Ask => ask(run, ctx, tool, prepared, begun).await,
        OnUnknown::Report => Ok(Resumed::Settled(Settled::Unknown(begun.began))),
        OnUnknown::Rerun => run_again(run, ctx, tool, prepared, attempts).await,
    }
}

/// Asks the tool of `reconcile` whether the call has happened; returns its result, or null if it has not; `None` if
/// this is unknown.
///
/// The journal does not record this call, but the decision that follows from it.
async fn reconciled(ctx: &CallContext, tool: &Registered, arguments: Option<Value>) -> Option<Value> {
    let (name, arguments) = (tool.reconcile()?, GivenArguments::Value(arguments?));
    let reading = ctx.reconciling();
    let found = reading.dispatch(Callee::Item(name), arguments, Caller::Code).await;
    Some(found.ok()?.into_value())
}

impl CallContext {
    /// Returns a call inside this one whose calls find out whether this one has happened: they are not in the journal,
    /// and do not ask a person.
    fn reconciling(&self) -> Self {
        let own = self.frame();
        let frame = CallFrame {
            depth: own.depth,
            nesting: own.nesting,
            is_shadow: true,
            is_unguarded: own.is_unguarded,
            ..CallFrame::new(own.call, Arc::clone(&own.name), own.by)
        };
        // A new frame has no key yet.
        let _ = frame.extras_or_default().reconciled.set(self.idempotency_key());
        self.clone().into_child_of(Arc::clone(self.host()), frame)
    }
}

/// Repeats the call, once the rules approve it like a first call.
async fn run_again(
    run: &Run,
    ctx: &CallContext,
    tool: &Arc<Registered>,
    prepared: &mut Prepared,
    attempt: u32,
) -> Result<Resumed, CallError> {
    run.decide(ctx, tool, prepared, attempt).await?;
    Ok(Resumed::Attempt(attempt))
}

/// Asks the approver what happened; without an approver or a decision, the outcome stays unknown.
async fn ask(
    run: &Run,
    ctx: &CallContext,
    tool: &Arc<Registered>,
    prepared: &mut Prepared,
    begun: &BegunCall,
) -> Result<Resumed, CallError> {
    let &BegunCall { attempts, began, approved_by, .. } = begun;
    let unknown = Ok(Resumed::Settled(Settled::Unknown(began)));
    let Some(request) = run.request_again(ctx, tool, prepared, (began, approved_by))? else { return unknown };
    let rule = request.rule.clone();
    let StepOutcome { value: answer, is_replayed } = run.submit(ctx, tool, request, first_round(attempts)).await?;
    if is_replayed && answer.result().is_none() {
        let edited = run.apply_recorded(ctx, tool, prepared, answer, false)?;
        run.apply_edit(ctx, tool, prepared, edited, attempts).await?;
        return Ok(Resumed::Attempt(attempts));
    }
    emit_decision(ctx, &rule, &answer.masked(tool), is_replayed);
    if let Some(result) = answer.result() {
        return Ok(Resumed::Settled(Settled::Happened(result.clone())));
    }
    if answer.is_undecided() {
        return unknown;
    }
    let edited = answer.into_edit(tool.name())?;
    run.apply_edit(ctx, tool, prepared, edited, attempts).await?;
    Ok(Resumed::Attempt(attempts))
}

/// Returns the settlement of the last attempt of the call; this uses up the recorded settlements of all attempts.
pub(super) async fn settlement(ctx: &CallContext, attempts: u32) -> Result<Option<Settlement>, CallError> {
    let Some(call) = ctx.frame().step.get() else { return Ok(None) };
    let mut last = None;
    for attempt in 0..attempts {
        last = ctx.settlement(call, attempt).await?;
    }
    Ok(last)
}

/// Returns the result in a recorded answer of the approver.
async fn recorded_result(ctx: &CallContext, attempts: u32) -> Result<Option<Value>, CallError> {
    let Some(answer) = used_up_answer(ctx, first_round(attempts)).await? else { return Ok(None) };
    let Some(result) = answer.result() else { return Ok(None) };
    emit_decision(ctx, &RuleSource::Journal, &answer, true);
    Ok(Some(result.clone()))
}

/// Waits until the caller has repeated the calls that it made after this one without its result. The caller may have
/// continued when a different call finished first, and then drops this call.
async fn wait_for_later_steps(ctx: &CallContext) {
    let (Some(journal), Some(step)) = (ctx.journal(), ctx.frame().step.get()) else { return };
    let has_begun = async {
        while !step.parent.is_empty() && journal.has_later_steps(&step.parent) {
            Delay::new(POLL).await;
        }
    };
    // After the timeout, the program is assumed to have changed.
    within(LATER_STEPS, has_begun).await;
}
