//! Records calls in a journal, and replays recorded ones.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use llm_do_providers::Attachment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::open_call::OpenCall;
use super::perform::{close_instances, flatten_panic, perform, run_unless_stopped};
use super::{Plane, Run};
use crate::base::error::{CallError, Failure, chain};
use crate::base::usage::UsageTree;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{self, Caller, ItemKind};
use crate::observe::journal::{
    AnnouncedCall, InFlightStep, Journal, JournalError, StepKind, StepSpec, digest, too_deep,
};
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::registry::{Prepared, Registered};

/// The record of a finished call: its result or error, and its effects on the session.
#[derive(Debug, Serialize, Deserialize)]
struct CallRecord {
    #[serde(flatten)]
    outcome: RecordedOutcome,
    /// The keys of the nested failures that caused its own.
    #[serde(rename = "because", default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Arc<str>>,
    /// Its usage, so that a replay counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageTree>,
    /// The worker files of the workers that it created, so that a replay restores them.
    #[serde(rename = "made", default, skip_serializing_if = "Vec::is_empty")]
    created_workers: Vec<String>,
    /// The user's messages during the call, so that a replay adds them to the conversation.
    #[serde(rename = "heard", default, skip_serializing_if = "Vec::is_empty")]
    user_messages: Vec<String>,
    /// Approvals remembered beyond one call, so that a replay does not ask again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approved: Vec<Value>,
}

/// The nesting depth of a result inside its record.
const RESULT_DEPTH: usize = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum RecordedOutcome {
    Result { result: RecordedResult },
    Failure(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
struct RecordedResult {
    value: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl RecordedOutcome {
    /// Returns the outcome to record; an error that ends the run is not recorded.
    fn of(result: Result<ToolReturn, CallError>) -> Result<Self, CallError> {
        match result {
            Ok(returned) => Ok(Self::returned(returned)),
            Err(error) => Failure::of(error).map(Self::Failure),
        }
    }

    /// Records a result that is nested too deep for a journal as a failure: the call must not run again.
    fn returned(ToolReturn { value, attachments, note, .. }: ToolReturn) -> Self {
        match too_deep(&value, RESULT_DEPTH) {
            Some(fault) => Self::Failure(Failure::Failed(fault)),
            None => Self::Result { result: RecordedResult { value, attachments, note } },
        }
    }

    fn into_result(self, tool: &str) -> Result<ToolReturn, CallError> {
        match self {
            Self::Result { result: RecordedResult { value, attachments, note } } => {
                Ok(ToolReturn { value, attachments, note, subtask: None })
            }
            Self::Failure(failure) => Err(failure.into_error(tool)),
        }
    }
}

impl CallRecord {
    fn of(outcome: RecordedOutcome, causes: Vec<Arc<str>>) -> Self {
        // Only a failure has causes to retry.
        let causes = if matches!(outcome, RecordedOutcome::Failure(_)) { causes } else { Vec::new() };
        let (created_workers, user_messages) = (Vec::new(), Vec::new());
        Self { outcome, causes, usage: None, created_workers, user_messages, approved: Vec::new() }
    }
}

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

/// The outcome of a run after the guards of its root call; the call's own result is recorded before they run.
#[derive(Debug, Serialize, Deserialize)]
struct AfterGuards {
    has_failed: bool,
    /// The keys of the failures inside the guards that caused it.
    #[serde(rename = "because", default, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Arc<str>>,
}

/// The name of the step that records [`AfterGuards`].
const AFTER_GUARDS: &str = "after guards";

/// Removes a run's recorded error and its causes from the journal, so that they are retried.
pub(super) async fn retry(journal: &dyn Journal, run: &StepSpec) -> Result<(), JournalError> {
    let result = result_step(run).key;
    let Some(record) = recorded::<CallRecord>(journal, &result) else { return Ok(()) };
    let is_failure = matches!(record.outcome, RecordedOutcome::Failure(_));
    let parent = CallContext::key_after(&run.key, &digest_of(&record));
    let end = StepSpec::new(parent, 0, StepKind::Effect, AFTER_GUARDS, Value::Null).key;
    let guarded = recorded::<AfterGuards>(journal, &end);
    if !guarded.as_ref().map_or(is_failure, |guarded| guarded.has_failed) {
        return Ok(());
    }
    let mut keys = Vec::new();
    if is_failure {
        keys.push(result);
    }
    if let Some(guarded) = guarded {
        keys.push(end);
        keys.extend(guarded.causes.into_iter().filter(|key| may_be_forgotten(journal, key)));
    }
    journal.forget(with_causes(journal, keys)).await
}

/// Adds the keys of the failures that caused the given ones, transitively.
fn with_causes(journal: &dyn Journal, mut keys: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let mut next = 0;
    while let Some(key) = keys.get(next) {
        // Steps other than calls have no nested steps.
        let causes = recorded::<CallRecord>(journal, key).map(|record| record.causes).unwrap_or_default();
        next += 1;
        keys.extend(causes.into_iter().filter(|key| may_be_forgotten(journal, key)));
    }
    keys
}

fn recorded<T: DeserializeOwned>(journal: &dyn Journal, key: &str) -> Option<T> {
    serde_json::from_value(journal.recorded(key)?).ok()
}

/// Returns a digest of a root call's record; it distinguishes the effects that follow different records.
fn digest_of(record: &CallRecord) -> String {
    digest(&serde_json::to_value(record).unwrap_or_default())
}

/// Returns whether the record under a key may be removed: any record but that of a successful call, which must not run again.
fn may_be_forgotten(journal: &dyn Journal, key: &str) -> bool {
    let recorded = journal.recorded(key);
    recorded.is_some_and(|value| {
        !matches!(serde_json::from_value(value), Ok(CallRecord { outcome: RecordedOutcome::Result { .. }, .. }))
    })
}

/// Returns the outcome of a recorded call of `tool`: the value of a [`Call`](StepKind::Call) or [`Result`](StepKind::Result) step.
///
/// Returns `None` if its model failed, so that there is no answer.
pub(crate) fn recorded_outcome(tool: &str, value: Value) -> Option<event::Outcome> {
    let Ok(CallRecord { outcome, .. }) = serde_json::from_value(value) else {
        return Some(event::Outcome::Error(format!("invalid journal record: expected a result of `{tool}`")));
    };
    if matches!(outcome, RecordedOutcome::Failure(Failure::Model { .. })) {
        return None;
    }
    let result = outcome.into_result(tool).map(|returned| returned.value);
    Some(result.map_or_else(|error| event::Outcome::Error(chain(&error)), event::Outcome::Result))
}

/// Returns the step that records the result of a run.
pub(super) fn result_step(run: &StepSpec) -> StepSpec {
    run.within(StepKind::Result, "result")
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
        // The user's call is the run, whose step exists already.
        caller.frame().step.get().into_iter().for_each(|step| drop(ctx.frame().step.set(step.clone())));
        return Ok(None);
    }
    let arguments = prepared.arguments().map_err(|fault| CallError::invalid(tool.name(), fault))?.into_owned();
    if let Some(fault) = too_deep(&arguments, 0) {
        return Err(CallError::invalid(tool.name(), fault));
    }
    let kind = if tool.is_composite() { StepKind::Call } else { StepKind::Tool };
    let (step, in_flight) = caller.begin_step(announced, kind, Arc::clone(&tool.spec.name), arguments);
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
        causes.retain(|key| may_be_forgotten(journal.as_ref(), key));
        if !causes.is_empty() {
            let keys = with_causes(journal.as_ref(), causes);
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
        let local = run_for_record(Arc::clone(&self.plane), Arc::clone(tool), prepared, ctx.clone());
        let recorded = ctx.recorded(mode, step, local).await?;
        if ctx.frame().by == Caller::User {
            ctx.begin_steps_after(&digest_of(&recorded.value));
        }
        let CallRecord { outcome, usage, created_workers, user_messages, approved, .. } = recorded.value;
        open.is_replayed = recorded.is_replayed;
        // The usage of guards of a root call is part of the run's usage, which is then already counted.
        let is_counted = || ctx.frame().by == Caller::User && !ctx.usage_tree().is_zero();
        if let Some(used) = usage.filter(|_| recorded.is_replayed && !is_counted()) {
            ctx.add_recorded(&used);
        }
        if recorded.is_replayed {
            self.restore_workers(ctx, created_workers)?;
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

/// Runs a call and returns its record; owns what it needs, so that a journal can run it on any task.
async fn run_for_record(
    plane: Arc<Plane>,
    tool: Arc<Registered>,
    prepared: Prepared,
    ctx: CallContext,
) -> Result<CallRecord, CallError> {
    let result = perform_in_time(&plane, &tool, prepared, &ctx).await;
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
    let usage = tool.is_composite().then(|| ctx.usage_tree()).filter(|used| !used.is_zero());
    let (created_workers, user_messages) =
        (plane.runtime_workers.created_by(&ctx.key()), ctx.frame().user_messages.take());
    let approved = ctx.frame().approved.get().map(|approved| approved.clone()).unwrap_or_default();
    Ok(CallRecord { usage, created_workers, user_messages, approved, ..CallRecord::of(outcome, causes) })
}

/// Returns whether a call that timed out ended the run, or its caller's deadline has passed too.
fn leaves_no_time(ctx: &CallContext) -> bool {
    let caller = if ctx.frame().by == Caller::User { Some(ctx) } else { ctx.caller() };
    caller.is_some_and(|ctx| ctx.check_deadline().is_err())
}

/// Runs a call until it returns, panics or exceeds its own timeout, all of which are recorded so that the call is not
/// repeated.
async fn perform_in_time(
    plane: &Plane,
    tool: &Registered,
    prepared: Prepared,
    ctx: &CallContext,
) -> Result<ToolReturn, CallError> {
    // Boxed, since calls nest.
    let body = Box::pin(async move { perform(plane, tool, prepared, ctx, None).wait(tool, ctx).await });
    let body = pin!(AssertUnwindSafe(body).catch_unwind());
    run_unless_stopped(|| ctx.own_timeout().boxed(), body).await.and_then(|caught| flatten_panic(tool, caught))
}
