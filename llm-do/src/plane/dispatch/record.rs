//! Records calls in a journal, and replays recorded ones.

mod call_record;
mod retry;

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;

pub(crate) use self::call_record::recorded_outcome;
use self::call_record::{CallRecord, RecordedOutcome, digest_of};
#[cfg(feature = "serve")]
pub(crate) use self::retry::may_repeat_effects;
pub(super) use self::retry::retry;
use self::retry::{AFTER_GUARDS, AfterGuards, forgettable, with_causes};
use super::begun::{begin, begins, record_failed};
use super::open_call::OpenCall;
use super::perform::{WorkerSetup, close_instances, flatten_panic, perform, run_unless_stopped};
use super::{Plane, Run};
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, ItemKind};
use crate::observe::journal::{AnnouncedCall, InFlightStep, StepKind, StepSpec, too_deep};
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::conversation::Conversation;
use crate::plane::guard::Guards;
use crate::plane::registry::{Prepared, Registered};

/// Returns the keys of the nested failures that caused a call to fail, if it failed.
pub(super) fn failure_causes(result: &Result<ToolReturn, CallError>, ctx: &CallContext) -> Vec<Arc<str>> {
    let steps = &ctx.frame().child_steps;
    let causes = steps.led_to(result.as_ref().err());
    // The last answer was invalid: ask the model again.
    if causes.is_empty() && matches!(result, Err(CallError::GaveUp { .. })) {
        return steps.last_answer().into_iter().collect();
    }
    causes
}

/// Returns the step that records the result of a run.
pub(super) fn result_step(run: &StepSpec) -> StepSpec {
    run.within(StepKind::Result, "result")
}

/// Returns the step of a call in the journal, if there is a journal.
pub(super) fn journal_step(
    ctx: &CallContext,
    tool: &Registered,
    prepared: &mut Prepared,
    announced: Option<AnnouncedCall>,
) -> Result<Option<InFlightStep>, CallError> {
    let (Some(_), Some(caller)) = (ctx.journal(), ctx.caller()) else { return Ok(None) };
    if ctx.frame().by == Caller::User {
        // The user's call is the run, whose step exists already.
        caller.frame().step.get().into_iter().for_each(|step| drop(ctx.frame().step.set(step.clone())));
        return Ok(None);
    }
    let arguments = prepared.share_normal_arguments().map_err(|fault| CallError::invalid(tool.name(), fault))?;
    if let Some(fault) = too_deep(&arguments, 0) {
        return Err(CallError::invalid(tool.name(), fault));
    }
    let kind = if tool.is_composite() { StepKind::Call } else { StepKind::Tool };
    let (step, in_flight) =
        caller.begin_step(announced, kind, Arc::clone(&tool.name), arguments, ctx.frame().thread.as_deref());
    drop(ctx.frame().step.set(Box::new(step)));
    Ok(Some(in_flight))
}

/// Returns whether a call is a root call whose result is looked up before it is run.
///
/// A worker's is not: its recorded answers are replayed instead, so that its messages are added to the conversation.
pub(super) fn is_recorded_root(ctx: &CallContext, tool: &Registered) -> bool {
    ctx.frame().by == Caller::User && tool.kind() != ItemKind::Worker && ctx.journal().is_some()
}

/// Returns whether a call is a root worker, whose result is recorded when it finishes.
pub(super) fn is_replayed_root(ctx: &CallContext, tool: &Registered) -> bool {
    ctx.frame().by == Caller::User && tool.kind() == ItemKind::Worker && ctx.journal().is_some()
}

impl CallContext {
    /// Gives a worker the code that a replayed call of it ran.
    fn pass_on_replayed_code(&self, ran_code: Option<String>) {
        if let Some((caller, code)) = self.caller().zip(ran_code) {
            caller.frame().rare_or_default().replayed_code.get_or_default().push(code);
        }
    }

    /// Records the result of a root worker, and returns the recorded one; `causes` are those of a failure before guards ran.
    pub(super) async fn record_root_result(
        &self,
        result: Result<ToolReturn, CallError>,
        causes: &[Arc<str>],
        open: &mut OpenCall<'_>,
    ) -> Result<ToolReturn, CallError> {
        let Some(run) = self.frame().step.get() else { return result };
        let causes = [causes, &failure_causes(&result, self)].concat();
        // A call that the deadline cut off is retried, so it is not recorded.
        let outcome = match result {
            Err(error) if error.is_timeout() && leaves_no_time(self) => return Err(error),
            result => RecordedOutcome::of(result)?,
        };
        self.record_denials().await?;
        self.check_all_replayed()?;
        let record = CallRecord::of(outcome, causes);
        let step = result_step(run);
        let recorded = self.recorded(JournalMethod::Step, step, async { Ok(record) }).await?;
        open.is_replayed = recorded.is_replayed;
        recorded.value.outcome.into_result(&run.name)
    }

    /// Records the outcome of the run after the guards of its root call, and returns it.
    ///
    /// Records nothing if the outcome follows from the call's own result. `has_failed` is whether the call itself failed, and
    /// `causes` are the causes of that failure.
    pub(super) async fn record_outcome_after_guards(
        &self,
        has_failed: bool,
        causes: Vec<Arc<str>>,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        let Some(steps) = self.steps_after() else { return self.retry_later(causes, result).await };
        let causes = if result.is_err() { steps.led_to(result.as_ref().err()) } else { Vec::new() };
        let is_recovered = has_failed && result.is_ok();
        if causes.is_empty() && !is_recovered {
            return result;
        }
        let (step, _in_flight) = self.next_step(StepKind::Effect, AFTER_GUARDS, Value::Null);
        let record = AfterGuards { has_failed: result.is_err(), causes };
        self.recorded(JournalMethod::Step, step, async { Ok(record) }).await?;
        result
    }

    /// Removes the causes of a failed run from the journal, if its result is not recorded, such as when a guard refused it.
    async fn retry_later(
        &self,
        mut causes: Vec<Arc<str>>,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        let (Err(error), Some(journal), Some(run)) = (&result, self.journal(), self.frame().step.get()) else {
            return result;
        };
        // A timeout was not caused by earlier failures.
        if error.is_timeout() || journal.is_recorded(&result_step(run).key) {
            return result;
        }
        causes.extend(failure_causes(&result, self));
        let causes = forgettable(journal.as_ref(), causes).await;
        if !causes.is_empty() {
            let keys = with_causes(journal.as_ref(), causes).await;
            journal.forget(keys).await.map_err(|source| self.journal_error(source))?;
        }
        result
    }
}

impl Run {
    /// Runs a call through the journal: replays its record, or runs and records it.
    pub(super) async fn record(
        &self,
        tool: &Arc<Registered>,
        prepared: Prepared,
        ctx: &CallContext,
        open: &mut OpenCall<'_>,
    ) -> Result<ToolReturn, CallError> {
        let Some(step) = ctx.frame().step.get().cloned() else { unreachable!("a recorded call has its step") };
        let (mode, step) = match ctx.frame().by {
            // The run itself is recorded when it starts, so its result has a separate key.
            Caller::User => (JournalMethod::Step, result_step(&step)),
            _ if tool.is_composite() => (JournalMethod::Call, *step),
            _ => (JournalMethod::Step, *step),
        };
        let local = run_for_record(self.setup(ctx).into(), Arc::clone(tool), prepared, ctx.clone(), open.attempt);
        let recorded = ctx.recorded(mode, step, local).await?;
        if ctx.frame().by == Caller::User {
            ctx.begin_steps_after(&digest_of(&recorded.value));
        }
        let CallRecord { outcome, usage, created_workers, user_messages, approved, threads, ran_code, .. } =
            recorded.value;
        open.is_replayed = recorded.is_replayed;
        // The usage of guards of a root call is part of the run's usage, which is then already counted.
        let is_counted = || ctx.frame().by == Caller::User && !ctx.usage_tree().is_zero();
        if let Some(used) = usage.filter(|_| recorded.is_replayed && !is_counted()) {
            ctx.add_recorded(&used);
        }
        if recorded.is_replayed {
            self.restore_workers(ctx, created_workers)?;
            self.restore_threads(ctx, threads)?;
            ctx.pass_on_replayed_code(ran_code);
            for message in &user_messages {
                ctx.add_user_message(message);
            }
            for approval in &approved {
                self.restore_approval(ctx, approval);
            }
        }
        outcome.into_result(tool.name())
    }
}

/// What a worker's call takes from its run, for a task that may outlive the run.
struct RecordedSetup {
    plane: Arc<Plane>,
    guards: Option<Guards>,
    conversation: Option<Arc<Conversation>>,
    renders_only: bool,
    end_on_denial: bool,
}

impl From<WorkerSetup<'_>> for RecordedSetup {
    fn from(setup: WorkerSetup<'_>) -> Self {
        let WorkerSetup { plane, guards, conversation, renders_only, end_on_denial } = setup;
        let (guards, conversation) = (guards.cloned(), conversation.cloned());
        Self { plane: Arc::clone(plane), guards, conversation, renders_only, end_on_denial }
    }
}

impl RecordedSetup {
    fn borrowed(&self) -> WorkerSetup<'_> {
        let Self { plane, guards, conversation, renders_only, end_on_denial } = self;
        let (guards, conversation) = (guards.as_ref(), conversation.as_ref());
        WorkerSetup { plane, guards, conversation, renders_only: *renders_only, end_on_denial: *end_on_denial }
    }
}

/// Runs a call and returns its record; owns what it needs, so that a journal can run it on any task.
async fn run_for_record(
    setup: RecordedSetup,
    tool: Arc<Registered>,
    prepared: Prepared,
    ctx: CallContext,
    attempt: u32,
) -> Result<CallRecord, CallError> {
    if begins(&tool) {
        begin(&ctx, &tool, attempt).await?;
    }
    let result = perform_in_time(setup.borrowed(), &tool, prepared, &ctx).await;
    // Before recording, so that a failure to close is part of the record.
    let result = close_instances(&tool, &ctx, result).await;
    let causes = failure_causes(&result, &ctx);
    let outcome = match result {
        // A call that its caller's deadline cut off is retried, so it is not recorded.
        Err(error) if error.is_timeout() && leaves_no_time(&ctx) => Err(error),
        result => RecordedOutcome::of(result),
    };
    let outcome = outcome.inspect_err(|_| ctx.pass_on_denials())?;
    ctx.record_denials().await?;
    ctx.check_all_replayed()?;
    if matches!(outcome, RecordedOutcome::Failure(_)) {
        record_failed(&ctx, &tool, attempt).await?;
    }
    let usage = tool.is_composite().then(|| ctx.usage_tree()).filter(|used| !used.is_zero());
    let created_workers = Run::of(&ctx).created_workers.created_by(&ctx.key());
    let user_messages = ctx.frame().take_user_messages();
    let approved = ctx.frame().rare().and_then(|rare| rare.approved.get()).map(|approved| approved.clone());
    let approved = approved.unwrap_or_default();
    let threads = ctx.thread_changes();
    let ran_code = ctx.frame().rare().and_then(|rare| rare.ran_code.get()).cloned();
    let record = CallRecord::of(outcome, causes);
    Ok(CallRecord { usage, created_workers, user_messages, approved, threads, ran_code, ..record })
}

/// Returns whether a call that timed out ended the run, or its caller's deadline has passed too.
fn leaves_no_time(ctx: &CallContext) -> bool {
    let caller = if ctx.frame().by == Caller::User { Some(ctx) } else { ctx.caller() };
    caller.is_some_and(|ctx| ctx.check_deadline().is_err())
}

/// Runs a call until it returns, panics or exceeds its own timeout, all of which are recorded so that the call is not
/// repeated.
async fn perform_in_time(
    setup: WorkerSetup<'_>,
    tool: &Registered,
    prepared: Prepared,
    ctx: &CallContext,
) -> Result<ToolReturn, CallError> {
    // Boxed, since calls nest.
    let body = Box::pin(async move { perform(setup, tool, prepared, ctx).wait(tool, ctx).await });
    let body = pin!(AssertUnwindSafe(body).catch_unwind());
    run_unless_stopped(|| ctx.own_timeout().boxed(), body).await.and_then(|caught| flatten_panic(tool, caught))
}
