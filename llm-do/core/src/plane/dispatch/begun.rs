//! Calls that begin. Each uses up its approval, since without a recorded result it may have had its effect.
//!
//! The attempts of a call are numbered from 0. Each attempt has separate rounds of requests, and a record that it
//! began. If it failed and its steps would otherwise mean that it can be replayed through them, it has a record of the
//! failure. [`unknown`](super::unknown) decides about a call that began and has no recorded result.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Run;
use super::approve::{approval_step, first_round};
use super::journal::result_step;
use super::unknown::{Resumed, decide_unknown, settlement};
use crate::base::error::CallError;
use crate::observe::event::{Caller, DecidedBy, ItemKind};
use crate::observe::journal::{Journal, StepKind, StepSpec, begun_step};
use crate::plane::approval::may_have_happened;
use crate::plane::context::{CallContext, JournalMethod, StepOutcome};
use crate::plane::function_tool::Acts;
use crate::plane::registry::{Prepared, Registered};

/// The record before a tool starts, if a second call of the tool may do harm.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Begun {
    /// When it began.
    began: Timestamp,
    /// The key of the decision of a person that was used up, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval: Option<Arc<str>>,
}

/// A call that began before, and whose result is not recorded.
pub(super) struct BegunCall {
    /// The number of attempts so far.
    pub(super) attempts: u32,
    /// When it began last.
    pub(super) began: Timestamp,
    /// Who approved its last attempt.
    pub(super) approved_by: DecidedBy,
    /// Whether it is replayed through its recorded steps, so that its effect is not repeated.
    is_in_steps: bool,
}

/// Returns the step that records that an attempt of a call failed. Its changes may be in its body or in its steps.
fn failed_step(call: &StepSpec, attempt: u32) -> StepSpec {
    call.within(StepKind::Begun, &format!("failed:{attempt}"))
}

/// Returns whether a call of the tool uses up its approval when it starts.
pub(super) fn begins(tool: &Registered) -> bool {
    tool.must_not_repeat() && matches!(tool.acts(), Acts::Itself | Acts::Either)
}

/// Returns the journal and the step of a call that began before, and whose result is not recorded.
#[inline]
pub(super) fn unfinished<'a>(ctx: &'a CallContext, tool: &Registered) -> Option<(&'a dyn Journal, &'a StepSpec)> {
    let call = ctx.frame().step.get()?;
    let journal = ctx.journal()?.as_ref();
    let is_unfinished = tool.must_not_repeat()
        && tool.kind() == ItemKind::Tool
        && journal.is_recorded(&begun_step(call, 0).key)
        && !has_result(ctx, journal, call);
    is_unfinished.then_some((journal, call))
}

impl BegunCall {
    /// Reads the attempts of a call that began before, of which the first is recorded.
    async fn read(
        ctx: &CallContext,
        tool: &Registered,
        (journal, call): (&dyn Journal, &StepSpec),
    ) -> Result<Self, CallError> {
        let mut attempts = 0;
        loop {
            let attempt = attempts;
            let is_in_steps = is_in_steps(tool, journal, call, attempt);
            let name = ctx.name().to_owned();
            // Unreachable: records are never removed during a run.
            let missing = async { Err(CallError::Cancelled { tool: name }) };
            let StepOutcome { value: Begun { began, approval }, .. } =
                ctx.recorded(JournalMethod::Step, begun_step(call, attempt), missing).await?;
            let failed = failed_step(call, attempt);
            if journal.is_recorded(&failed.key) {
                ctx.recorded::<()>(JournalMethod::Step, failed, async { Ok(()) }).await?;
            }
            attempts += 1;
            if !journal.is_recorded(&begun_step(call, attempts).key) {
                let approved_by = if approval.is_some() { DecidedBy::Approver } else { DecidedBy::Policy };
                return Ok(Self { attempts, began, approved_by, is_in_steps });
            }
        }
    }
}

fn has_result(ctx: &CallContext, journal: &dyn Journal, call: &StepSpec) -> bool {
    match ctx.frame().by {
        Caller::User => journal.is_recorded(&result_step(call).key),
        _ => journal.is_recorded(&call.key),
    }
}

/// Returns whether an attempt of a call is replayed through its recorded steps.
fn is_in_steps(tool: &Registered, journal: &dyn Journal, call: &StepSpec, attempt: u32) -> bool {
    tool.acts() == Acts::Either
        && journal.has_recorded_steps(&call.key)
        && !journal.is_recorded(&failed_step(call, attempt).key)
}

/// Records that a call begins, before its tool starts.
///
/// If it began before, it is refused: the journal does not know its records, or the call would not have been admitted.
pub(super) async fn begin(ctx: &CallContext, tool: &Registered, attempt: u32) -> Result<(), CallError> {
    let StepOutcome { value: Begun { began, .. }, is_replayed } = Box::pin(record(ctx, attempt)).await?;
    let is_known = |(journal, call): (&Arc<dyn Journal>, _)| is_in_steps(tool, journal.as_ref(), call, attempt);
    if !is_replayed || ctx.journal().zip(ctx.frame().step.get().map(AsRef::as_ref)).is_some_and(is_known) {
        return Ok(());
    }
    let reason = format!(
        "the call {}, and its journal cannot be asked whether its result is recorded; implement `is_recorded` for it",
        may_have_happened(began)
    );
    Err(CallError::Denied { tool: ctx.name().to_owned(), reason, stops: true })
}

/// Records that a call failed that may have made changes in its body. If the failure is retried, its approval is asked
/// for again.
pub(super) async fn record_failed(ctx: &CallContext, tool: &Registered, attempt: u32) -> Result<(), CallError> {
    if !tool.must_not_repeat() || tool.kind() != ItemKind::Tool {
        return Ok(());
    }
    match (tool.acts(), ctx.frame().step.get()) {
        // So far, its steps had separate approvals.
        (Acts::InSteps, _) => Box::pin(record(ctx, attempt)).await.map(drop),
        (Acts::Either, Some(call)) if ctx.journal().is_some_and(|journal| journal.has_recorded_steps(&call.key)) => {
            let failed = async { Ok(()) };
            let step = failed_step(call, attempt);
            Box::pin(ctx.recorded::<()>(JournalMethod::Step, step, failed)).await.map(drop)
        }
        _ => Ok(()),
    }
}

async fn record(ctx: &CallContext, attempt: u32) -> Result<StepOutcome<Begun>, CallError> {
    let (Some(journal), Some(call)) = (ctx.journal(), ctx.frame().step.get()) else {
        unreachable!("a recorded call has a journal and a step")
    };
    let approval = approval_step(call, first_round(attempt)).key;
    let approval = Some(approval).filter(|key| journal.is_recorded(key));
    let begun = Begun { began: ctx.clock_time(), approval };
    ctx.recorded(JournalMethod::Step, begun_step(call, attempt), async { Ok(begun) }).await
}

/// Decides about a call that is [`unfinished`].
pub(super) async fn decide_begun(
    run: &Run,
    ctx: &CallContext,
    tool: &Arc<Registered>,
    prepared: &mut Prepared,
    call: (&dyn Journal, &StepSpec),
) -> Result<Resumed, CallError> {
    let begun = BegunCall::read(ctx, tool, call).await?;
    if !begun.is_in_steps {
        return decide_unknown(run, ctx, tool, prepared, &begun).await;
    }
    let last = begun.attempts - 1;
    for attempt in 0..last {
        run.repeat_edits(ctx, tool, prepared, attempt).await?;
    }
    settlement(ctx, begun.attempts).await?;
    run.decide(ctx, tool, prepared, last).await?;
    Ok(Resumed::Attempt(last))
}
