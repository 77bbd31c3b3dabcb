//! Calls in a journal: what is recorded of one, and what becomes of it when it is replayed.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use llm_do_providers::Attachment;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::open_call::OpenCall;
use super::perform::{closed, perform, unless, unpanicked};
use super::{Plane, Run};
use crate::base::error::{CallError, Failure, chain};
use crate::base::usage::UsageTree;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{self, Caller, ItemKind};
use crate::observe::journal::{InFlightStep, Journal, JournalError, StepKind, StepSpec, digest, too_deep};
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::registry::{Prepared, Registered};

/// How a call ended, as a journal keeps it: its result, or an error that its caller is told of.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    #[serde(flatten)]
    outcome: Outcome,
    /// The keys of the failures inside it that led to its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    because: Vec<Arc<str>>,
    /// What it used, so that a replay counts it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageTree>,
    /// The files of the workers that were made in it, so that they are there after a replay too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made: Vec<String>,
    /// What the user said in it, so that the conversation that it is in is told of it after a replay too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heard: Vec<String>,
    /// What was approved in it for longer than one call, so that nobody is asked again after a replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approved: Vec<Value>,
}

/// How many objects a result is inside of where it is recorded.
const INSIDE: usize = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Outcome {
    Result { result: Returned },
    Failure(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
struct Returned {
    value: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Outcome {
    /// Returns what is to be recorded; an error that ends the run comes to no end worth that.
    fn of(result: Result<ToolReturn, CallError>) -> Result<Self, CallError> {
        match result {
            Ok(returned) => Ok(Self::returned(returned)),
            Err(error) => Failure::of(error).map(Self::Failure),
        }
    }

    /// A result that no journal takes is recorded as a failure: what was done for it is not to be done again.
    fn returned(ToolReturn { value, attachments, note, .. }: ToolReturn) -> Self {
        match too_deep(&value, INSIDE) {
            Some(fault) => Self::Failure(Failure::Failed(fault)),
            None => Self::Result { result: Returned { value, attachments, note } },
        }
    }

    fn into_result(self, tool: &str) -> Result<ToolReturn, CallError> {
        match self {
            Self::Result { result: Returned { value, attachments, note } } => {
                Ok(ToolReturn { value, attachments, note, subtask: None })
            }
            Self::Failure(failure) => Err(failure.into_error(tool)),
        }
    }
}

impl Ended {
    fn of(outcome: Outcome, because: Vec<Arc<str>>) -> Self {
        // A result has no cause that could be tried again.
        let because = if matches!(outcome, Outcome::Failure(_)) { because } else { Vec::new() };
        Self { outcome, because, usage: None, made: Vec::new(), heard: Vec::new(), approved: Vec::new() }
    }
}

/// Returns the keys of the failures inside a call that led to its end, if it failed.
pub(super) fn led_to(result: &Result<ToolReturn, CallError>, ctx: &CallContext) -> Vec<Arc<str>> {
    let places = &ctx.frame().places;
    let led = places.led_to(result.as_ref().err());
    // The last answer was not good enough: the model is to answer anew.
    if led.is_empty() && matches!(result, Err(CallError::GaveUp { .. })) {
        return places.last_answer().into_iter().collect();
    }
    led
}

/// How a run ended after the guards of its root call, whose own result is recorded before they see it.
#[derive(Debug, Serialize, Deserialize)]
struct AfterGuards {
    has_failed: bool,
    /// The keys of the failures inside the guards that led to that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    because: Vec<Arc<str>>,
}

/// The name of the step that records that.
const AFTER_GUARDS: &str = "after guards";

/// Has the journal forget that a run ended in an error, and the failures that led to it, so that they are tried again.
pub(super) async fn retry(journal: &dyn Journal, run: &StepSpec) -> Result<(), JournalError> {
    let result = result_step(run).key;
    let Some(ended) = recorded::<Ended>(journal, &result) else { return Ok(()) };
    let is_failure = matches!(ended.outcome, Outcome::Failure(_));
    let parent = CallContext::key_after(&run.key, &digest_of(&ended));
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
        keys.extend(guarded.because.into_iter().filter(|key| may_be_forgotten(journal, key)));
    }
    journal.forget(with_causes(journal, keys)).await
}

/// Adds the keys of the failures that led to those of these keys.
fn with_causes(journal: &dyn Journal, mut keys: Vec<Arc<str>>) -> Vec<Arc<str>> {
    let mut next = 0;
    while let Some(key) = keys.get(next) {
        // What is no call has nothing inside it.
        let because = recorded::<Ended>(journal, key).map(|ended| ended.because).unwrap_or_default();
        next += 1;
        keys.extend(because.into_iter().filter(|key| may_be_forgotten(journal, key)));
    }
    keys
}

fn recorded<T: DeserializeOwned>(journal: &dyn Journal, key: &str) -> Option<T> {
    serde_json::from_value(journal.recorded(key)?).ok()
}

/// Returns a digest of what is recorded of a root call, by which the effects after it are told from those after another.
fn digest_of(ended: &Ended) -> String {
    digest(&serde_json::to_value(ended).unwrap_or_default())
}

/// Returns whether something is recorded under a key, other than a call that has returned: what it did is never done again.
fn may_be_forgotten(journal: &dyn Journal, key: &str) -> bool {
    let recorded = journal.recorded(key);
    recorded.is_some_and(|value| {
        !matches!(serde_json::from_value(value), Ok(Ended { outcome: Outcome::Result { .. }, .. }))
    })
}

/// Returns how a recorded call of `tool` ended: a value of a step [`Call`](StepKind::Call) or [`Result`](StepKind::Result).
///
/// None if its model failed: then nothing was answered.
pub(crate) fn recorded_outcome(tool: &str, value: Value) -> Option<event::Outcome> {
    let Ok(Ended { outcome, .. }) = serde_json::from_value(value) else {
        return Some(event::Outcome::Error(format!("what is recorded is no result of `{tool}`")));
    };
    if matches!(outcome, Outcome::Failure(Failure::Model { .. })) {
        return None;
    }
    let result = outcome.into_result(tool).map(|returned| returned.value);
    Some(result.map_or_else(|error| event::Outcome::Error(chain(&error)), event::Outcome::Result))
}

/// Returns the step that records the result of a run.
pub(super) fn result_step(run: &StepSpec) -> StepSpec {
    run.within(StepKind::Result, "result")
}

/// Finds the place of a call in the journal, if there is one.
pub(super) fn place(
    ctx: &CallContext,
    tool: &Registered,
    prepared: &Prepared,
) -> Result<Option<InFlightStep>, CallError> {
    let (Some(_), Some(caller)) = (ctx.journal(), ctx.caller()) else { return Ok(None) };
    if ctx.frame().by == Caller::User {
        // The user's call is the run, which has its place already.
        caller.frame().step.get().into_iter().for_each(|step| drop(ctx.frame().step.set(step.clone())));
        return Ok(None);
    }
    let arguments = prepared.arguments().map_err(|fault| CallError::invalid(tool.name(), fault))?.into_owned();
    if let Some(fault) = too_deep(&arguments, 0) {
        return Err(CallError::invalid(tool.name(), fault));
    }
    let kind = if tool.is_composite() { StepKind::Call } else { StepKind::Tool };
    let (step, visit) = caller.next_step(kind, Arc::clone(&tool.spec.name), arguments);
    drop(ctx.frame().step.set(Box::new(step)));
    Ok(Some(visit))
}

/// Returns whether a call is a root call whose result is looked up before it is run.
///
/// That of a worker is not: its recorded answers are replayed, since what was said in it goes into the conversation.
pub(super) fn is_recorded_root(ctx: &CallContext, tool: &Registered) -> bool {
    ctx.frame().by == Caller::User && tool.kind() != ItemKind::Worker && ctx.journal().is_some()
}

/// Returns whether a call is a root worker, whose result is recorded when it has ended.
pub(super) fn is_replayed_root(ctx: &CallContext, tool: &Registered) -> bool {
    ctx.frame().by == Caller::User && tool.kind() == ItemKind::Worker && ctx.journal().is_some()
}

impl CallContext {
    /// Records the result of a root worker, and returns the recorded one; `because` are the failures that led to it before
    /// guards saw it.
    pub(super) async fn keep_result(
        &self,
        result: Result<ToolReturn, CallError>,
        because: &[Arc<str>],
        open: &mut OpenCall<'_>,
    ) -> Result<ToolReturn, CallError> {
        let Some(run) = self.frame().step.get() else { return result };
        let because = [because, &led_to(&result, self)].concat();
        // What there was no time for is to be tried again.
        let outcome = match result {
            Err(error) if error.is_timeout() && leaves_no_time(self) => return Err(error),
            result => Outcome::of(result)?,
        };
        self.record_denials().await?;
        self.check_all_replayed()?;
        let ended = Ended::of(outcome, because);
        let step = result_step(run);
        let came = self.recorded(JournalMethod::Step, step, async { Ok(ended) }).await?;
        open.is_replayed = came.is_replayed;
        came.value.outcome.into_result(&run.name)
    }

    /// Records how the run ended after the guards of its root call, and returns that.
    ///
    /// Nothing is recorded if it follows from the call's own result; `has_failed` says whether the call itself failed, and
    /// `because` what led to that.
    pub(super) async fn keep_end(
        &self,
        has_failed: bool,
        because: Vec<Arc<str>>,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        let Some(places) = self.steps_after() else { return self.retry_later(because, result).await };
        let because = if result.is_err() { places.led_to(result.as_ref().err()) } else { Vec::new() };
        let is_recovered = has_failed && result.is_ok();
        if because.is_empty() && !is_recovered {
            return result;
        }
        let (step, _visit) = self.next_step(StepKind::Effect, AFTER_GUARDS, Value::Null);
        let ended = AfterGuards { has_failed: result.is_err(), because };
        self.recorded(JournalMethod::Step, step, async { Ok(ended) }).await?;
        result
    }

    /// Forgets the failures that led to the end of a run whose result is not recorded, such as that a guard refused it.
    async fn retry_later(
        &self,
        mut because: Vec<Arc<str>>,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        let (Err(error), Some(journal), Some(run)) = (&result, self.journal(), self.frame().step.get()) else {
            return result;
        };
        // What there was no time for did not end by what failed before.
        if error.is_timeout() || journal.is_recorded(&result_step(run).key) {
            return result;
        }
        because.extend(led_to(&result, self));
        because.retain(|key| may_be_forgotten(journal.as_ref(), key));
        if !because.is_empty() {
            let keys = with_causes(journal.as_ref(), because);
            journal.forget(keys).await.map_err(|source| self.journal_error(source))?;
        }
        result
    }
}

impl Run {
    /// Runs a call, unless the journal has its result.
    pub(super) async fn record(
        &self,
        tool: &Arc<Registered>,
        prepared: Prepared,
        ctx: &CallContext,
        open: &mut OpenCall<'_>,
    ) -> Result<ToolReturn, CallError> {
        let Some(step) = ctx.frame().step.get().cloned() else { unreachable!("a recorded call has its step") };
        let (way, step) = match ctx.frame().by {
            // The run is recorded when it begins, so its result has a key of its own.
            Caller::User => (JournalMethod::Step, result_step(&step)),
            _ if tool.is_composite() => (JournalMethod::Call, *step),
            _ => (JournalMethod::Step, *step),
        };
        let local = end(Arc::clone(&self.plane), Arc::clone(tool), prepared, ctx.clone());
        let came = ctx.recorded(way, step, local).await?;
        if ctx.frame().by == Caller::User {
            ctx.begin_steps_after(&digest_of(&came.value));
        }
        let Ended { outcome, usage, made, heard, approved, .. } = came.value;
        open.is_replayed = came.is_replayed;
        // What guards of a root call used is counted already: it is part of what the run used.
        let is_counted = || ctx.frame().by == Caller::User && !ctx.usage_tree().is_zero();
        if let Some(used) = usage.filter(|_| came.is_replayed && !is_counted()) {
            ctx.add_recorded(&used);
        }
        if came.is_replayed {
            self.recreate(ctx, made)?;
            for said in &heard {
                ctx.add_user_message(said);
            }
            for approval in &approved {
                self.restore_approval(ctx, approval);
            }
        }
        outcome.into_result(tool.name())
    }
}

/// Runs a call to an end worth recording, with what it needs in its own hands, so that a journal may run it wherever it
/// wants.
async fn end(
    plane: Arc<Plane>,
    tool: Arc<Registered>,
    prepared: Prepared,
    ctx: CallContext,
) -> Result<Ended, CallError> {
    let result = perform_in_time(&plane, &tool, prepared, &ctx).await;
    // Here, so that what comes of it is recorded with the rest.
    let result = closed(&tool, &ctx, result).await;
    let because = led_to(&result, &ctx);
    let outcome = match result {
        // What its caller had no time left for is to be tried again.
        Err(error) if error.is_timeout() && leaves_no_time(&ctx) => Err(error),
        result => Outcome::of(result),
    };
    let outcome = outcome.inspect_err(|_| ctx.pass_on_denials())?;
    ctx.record_denials().await?;
    ctx.check_all_replayed()?;
    let usage = tool.is_composite().then(|| ctx.usage_tree()).filter(|used| !used.is_zero());
    let (made, heard) = (plane.made.below(&ctx.key()), ctx.frame().user_messages.take());
    let approved = ctx.frame().approved.get().map(|approved| approved.clone()).unwrap_or_default();
    Ok(Ended { usage, made, heard, approved, ..Ended::of(outcome, because) })
}

/// Returns whether a call that took too long has ended the run, or leaves its caller no time either.
fn leaves_no_time(ctx: &CallContext) -> bool {
    let ended = if ctx.frame().by == Caller::User { Some(ctx) } else { ctx.caller() };
    ended.is_some_and(|ctx| ctx.check_deadline().is_err())
}

/// Performs a call until it returns, panics or has no time of its own left: ends as well, so that what the call did before
/// is not repeated.
async fn perform_in_time(
    plane: &Plane,
    tool: &Registered,
    prepared: Prepared,
    ctx: &CallContext,
) -> Result<ToolReturn, CallError> {
    // On the heap: calls nest.
    let body = Box::pin(async move { perform(plane, tool, prepared, ctx, None).ended(tool, ctx).await });
    let body = pin!(AssertUnwindSafe(body).catch_unwind());
    unless(|| ctx.own_timeout().boxed(), body).await.and_then(|caught| unpanicked(tool, caught))
}
