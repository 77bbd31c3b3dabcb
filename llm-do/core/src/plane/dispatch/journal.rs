//! Records calls in a journal, and replays recorded ones.

mod call_record;
mod outcome;
mod retry;

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

pub use self::call_record::recorded_outcome;
#[cfg(feature = "script")]
pub(crate) use self::call_record::recorded_outcome_only;
use self::call_record::{CallRecord, RecordedOutcome, digest_of};
pub(super) use self::outcome::{OwnEnd, WRAPPER as OUTCOME};
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::retry::may_repeat_effects;
pub(super) use self::retry::retry;
pub use self::retry::unknown_calls;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::retry::without_content;
use super::begun::{begin, begins, record_failed};
use super::perform::run_unless_stopped;
use super::pipeline::{Call, CallResult, Next, Wrapper};
use super::thread::restore_threads;
use super::{Run, instances};
use crate::base::error::CallError;
use crate::observe::event::{Caller, ItemKind};
use crate::observe::journal::{AnnouncedCall, InFlightStep, StepKind, StepSpec, too_deep};
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::origin::OriginNotes;
use crate::plane::registry::{Prepared, Registered};

/// Replays a call that is recorded, or runs and records it.
///
/// A root worker is not looked up: its recorded answers are replayed, so that its messages are added to the
/// conversation.
pub(super) const WRAPPER: Wrapper = Wrapper {
    applies: |call| call.in_flight.is_some() || (is_journaled_root(call) && call.tool.kind() != ItemKind::Worker),
    around,
};

fn around<'c>(call: &'c mut Call<'_>, prepared: Prepared, next: Next) -> BoxFuture<'c, CallResult> {
    Box::pin(async move {
        let ctx = call.ctx;
        // A recorded call records its own timeout as its result, so that a replay does not wait again.
        let stopped = || ctx.stopped_by_caller().boxed();
        let body = pin!(record(call, prepared, next));
        let result = run_unless_stopped(ctx, stopped, body).await;
        // A call that was stopped may have left instances open.
        instances::close(ctx, result).await
    })
}

/// Returns whether the user makes the call, in a run with a journal.
fn is_journaled_root(call: &Call<'_>) -> bool {
    call.ctx.frame().by == Caller::User && call.ctx.journal().is_some()
}

/// Assigns the call its position in the journal, if there is a journal.
pub(super) async fn place(call: &mut Call<'_>, prepared: &mut Prepared) -> Result<(), CallError> {
    call.in_flight = journal_step(call.ctx, &call.tool, prepared, call.announced.take())?;
    if call.in_flight.is_some()
        && let Some(caller) = call.ctx.caller()
    {
        Box::pin(caller.record_denials()).await?;
    }
    Ok(())
}

/// Returns the step of a call in the journal, if there is a journal.
pub(super) fn journal_step(
    ctx: &CallContext,
    tool: &Registered,
    prepared: &Prepared,
    announced: Option<AnnouncedCall>,
) -> Result<Option<InFlightStep>, CallError> {
    let (Some(_), Some(caller)) = (ctx.journal(), ctx.caller()) else { return Ok(None) };
    if ctx.frame().by == Caller::User {
        // The user's call is the run, whose step already exists.
        caller.frame().step.get().into_iter().for_each(|step| drop(ctx.frame().step.set(step.clone())));
        return Ok(None);
    }
    let arguments = prepared.share_normal_arguments().map_err(|fault| CallError::invalid(tool.name(), fault))?;
    if let Some(fault) = too_deep(&arguments, 0) {
        return Err(CallError::invalid(tool.name(), fault));
    }
    let kind = if tool.is_composite() { StepKind::Call } else { StepKind::Tool };
    let (step, in_flight) = caller.begin_step(announced, kind, Arc::clone(&tool.name), arguments, Some(ctx.frame()));
    drop(ctx.frame().step.set(Box::new(step)));
    Ok(Some(in_flight))
}

/// Returns whether the journal has the result of the run that starts with this root call; its calls are then replayed.
pub(super) fn has_result(ctx: &CallContext) -> bool {
    let user = ctx.caller().filter(|_| ctx.frame().by == Caller::User);
    let run = user.and_then(|user| user.frame().step.get());
    let (Some(journal), Some(run)) = (ctx.journal(), run) else { return false };
    journal.is_recorded(&result_step(run).key)
}

/// Runs a call through the journal: replays its record, or runs and records it.
async fn record(call: &mut Call<'_>, prepared: Prepared, next: Next) -> CallResult {
    let (run, ctx, tool) = (call.run, call.ctx, Arc::<Registered>::clone(&call.tool));
    let Some(step) = ctx.frame().step.get().cloned() else { unreachable!("a recorded call has its step") };
    let (method, step) = match ctx.frame().by {
        // The run itself is recorded when it starts, so its result has a separate key.
        Caller::User => (JournalMethod::Step, result_step(&step)),
        _ if tool.is_composite() => (JournalMethod::Call, *step),
        _ => (JournalMethod::Step, *step),
    };
    let is_composite = tool.is_composite();
    let settled = call.settled.take();
    let is_settled = settled.is_some();
    let recorded = match settled {
        Some(settled) => {
            let outcome = RecordedOutcome::from_result(settled.into_result(ctx.name()), ctx.error_types())?;
            let record = CallRecord { labels: ctx.labels_to_keep(), ..CallRecord::new(outcome, Vec::new()) };
            ctx.recorded(JournalMethod::Step, step, async { Ok(record) }).await?
        }
        None => ctx.recorded(method, step, run_for_record(tool, prepared, ctx.clone(), call.attempt, next)).await?,
    };
    if ctx.frame().by == Caller::User {
        ctx.begin_steps_after(&digest_of(&recorded.value));
    }
    // Nothing ran here.
    call.set_replayed(recorded.is_replayed || is_settled);
    if !recorded.is_replayed {
        return recorded.value.outcome.into_result(ctx.name(), ctx.error_types());
    }
    if run.has_flow && is_composite {
        restore_labels(run, ctx, &recorded.value);
    }
    restore(run, ctx, recorded.value)
}

/// Restores the labels of what a recorded call has read.
fn restore_labels(run: &Run, ctx: &CallContext, record: &CallRecord) {
    let notes = ctx.origin_notes();
    // What a run without labels has recorded may be made from anything.
    let labels = record.labels.unwrap_or_else(|| run.approvals().unknown_labels());
    notes.join(labels);
    #[cfg(feature = "script")]
    if let Some(caller) = ctx.caller().filter(|_| record.ran_code.is_some()) {
        // Later code of the worker finds its variables, with what is in them.
        caller.frame().extras_or_default().code.held.get_or_default().join(labels);
    }
    record.returned.into_iter().for_each(|labels| notes.set_returned(labels));
}

/// Restores the effects of a recorded call on its run, and returns its result.
fn restore(run: &Run, ctx: &CallContext, record: CallRecord) -> CallResult {
    let CallRecord { outcome, usage, created_workers, user_messages, approved, threads, ran_code, read, acted, .. } =
        record;
    // The usage of guards of a root call is part of the run's usage, which is already counted then.
    let is_counted = || ctx.frame().by == Caller::User && !ctx.usage_tree().is_zero();
    if let Some(used) = usage.filter(|_| !is_counted()) {
        ctx.add_recorded(&used);
    }
    run.restore_workers(ctx, created_workers)?;
    restore_threads(run, ctx, threads)?;
    if let Some((caller, code)) = ctx.caller().zip(ran_code) {
        // Later code of the worker finds its variables.
        caller.frame().extras_or_default().code.replayed.get_or_default().push(code);
    }
    acted.iter().for_each(|tool| ctx.note_acted(tool));
    if !read.is_empty() {
        ctx.origin_notes().set_replayed(read);
    }
    for message in &user_messages {
        ctx.add_user_message(message);
    }
    for approval in &approved {
        run.restore_approval(ctx, approval);
    }
    outcome.into_result(ctx.name(), ctx.error_types())
}

/// Runs a call and returns its record. Owns its data, so that a journal can run it in any task.
async fn run_for_record(
    tool: Arc<Registered>,
    prepared: Prepared,
    ctx: CallContext,
    attempt: u32,
    next: Next,
) -> Result<CallRecord, CallError> {
    if begins(&tool) {
        begin(&ctx, &tool, attempt).await?;
    }
    let run = Run::of(&ctx);
    let result = {
        let mut call = Call { is_in_journal: true, ..Call::new(&run, &ctx, Cow::Borrowed(&tool)) };
        // This includes closing its instances, so that a failure to close is part of the record.
        next.run(&mut call, prepared).await
    };
    let causes = failure_causes(&result, &ctx);
    let outcome = match result {
        // A call that was stopped by its caller's deadline is retried, so it is not recorded.
        Err(error) if error.is_timeout() && leaves_no_time(&ctx) => Err(error),
        result => RecordedOutcome::from_result(result, ctx.error_types()),
    };
    let outcome = outcome.inspect_err(|_| ctx.pass_on_denials())?;
    ctx.record_denials().await?;
    ctx.check_all_replayed()?;
    // A call that failed because the outcome of one of its steps is unknown is replayed to that step again.
    if matches!(&outcome, RecordedOutcome::Failure(failure) if !failure.is_unknown_inside(ctx.name())) {
        record_failed(&ctx, &tool, attempt).await?;
    }
    let usage = tool.is_composite().then(|| ctx.usage_tree()).filter(|used| !used.is_zero());
    let created_workers = run.chat.created_workers.created_by(&ctx.key());
    let user_messages = ctx.frame().take_user_messages();
    let approved =
        ctx.frame().extras().and_then(|extras| extras.effects.approved.get()).map(|approved| approved.clone());
    let approved = approved.unwrap_or_default();
    let threads = ctx.thread_changes();
    let ran_code = ctx.frame().extras().and_then(|extras| extras.effects.ran_code.get()).cloned();
    let notes = ctx.frame().extras().map(|extras| &extras.origins);
    let read = notes.map(OriginNotes::through).unwrap_or_default();
    let labels = ctx.labels_to_keep().filter(|_| tool.is_composite());
    let returned = notes.and_then(OriginNotes::returned);
    let acted = ctx.acted();
    let record = CallRecord { labels, returned, acted, ..CallRecord::new(outcome, causes) };
    Ok(CallRecord { usage, created_workers, user_messages, approved, threads, ran_code, read, ..record })
}

/// Returns the keys of the nested failures that caused a call to fail, if it failed.
fn failure_causes(result: &CallResult, ctx: &CallContext) -> Vec<Arc<str>> {
    let steps = &ctx.frame().child_steps;
    let causes = steps.led_to(result.as_ref().err());
    // The last answer was invalid, so the model is asked again.
    if causes.is_empty() && matches!(result, Err(CallError::GaveUp { .. })) {
        return steps.last_answer().into_iter().collect();
    }
    causes
}

/// Returns the step that records the result of a run.
pub(super) fn result_step(run: &StepSpec) -> StepSpec {
    run.within(StepKind::Result, "result")
}

/// Returns whether a timeout ended the run, or the deadline of the caller has passed too.
fn leaves_no_time(ctx: &CallContext) -> bool {
    let caller = if ctx.frame().by == Caller::User { Some(ctx) } else { ctx.caller() };
    caller.is_some_and(|ctx| ctx.check_deadline().is_err())
}
