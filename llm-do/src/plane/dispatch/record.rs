//! Calls in a journal: what is recorded of one, and what becomes of it when it is replayed.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt;
use llm_do_providers::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::open_call::OpenCall;
use super::perform::{closed, perform, unless, unpanicked};
use super::{Plane, Run};
use crate::base::error::{CallError, Failure, chain};
use crate::base::usage::UsageTree;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{self, Caller, ItemKind};
use crate::observe::journal::{Journal, JournalError, StepKind, StepSpec, Visit, digest, too_deep};
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
    /// Records how a call ended, with what led to it if it failed.
    fn of(outcome: Outcome, ctx: &CallContext) -> Self {
        let places = &ctx.frame().places;
        let mut because = Vec::new();
        if let Outcome::Failure(failure) = &outcome {
            because = places.failed_last();
            // The last answer was not good enough: the model is to answer anew.
            if because.is_empty() && matches!(failure, Failure::GaveUp(_)) {
                because.extend(places.last_answer());
            }
        }
        Self { outcome, because, usage: None, made: Vec::new(), heard: Vec::new() }
    }
}

/// Has the journal forget that a run ended in an error, and the failures that led to it, so that they are tried again.
pub(super) async fn retry(journal: &dyn Journal, run: &StepSpec) -> Result<(), JournalError> {
    let result = result_step(run).key;
    let ended = journal.recorded(&result).and_then(|value| serde_json::from_value(value).ok());
    if !matches!(ended, Some(Ended { outcome: Outcome::Failure(_), .. })) {
        return Ok(());
    }
    let mut keys = vec![result];
    let mut next = 0;
    while let Some(value) = keys.get(next).and_then(|key| journal.recorded(key)) {
        next += 1;
        // What is no call has nothing inside it.
        let because = serde_json::from_value(value).map(|ended: Ended| ended.because).unwrap_or_default();
        keys.extend(because.into_iter().filter(|key| may_be_forgotten(journal, key)));
    }
    journal.forget(keys).await
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
pub(super) fn place(ctx: &CallContext, tool: &Registered, prepared: &Prepared) -> Result<Option<Visit>, CallError> {
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
    /// Records the result of a root worker, and returns the recorded one.
    pub(super) async fn keep_result(
        &self,
        result: Result<ToolReturn, CallError>,
        open: &mut OpenCall<'_>,
    ) -> Result<ToolReturn, CallError> {
        let Some(run) = self.frame().step.get() else { return result };
        // What there was no time for is to be tried again.
        let outcome = match result {
            Err(error) if error.is_timeout() && leaves_no_time(self) => return Err(error),
            result => Outcome::of(result)?,
        };
        self.check_all_replayed()?;
        let ended = Ended::of(outcome, self);
        let step = result_step(run);
        let came = self.recorded(JournalMethod::Step, step, async { Ok(ended) }).await?;
        open.is_replayed = came.is_replayed;
        came.value.outcome.into_result(&run.name)
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
            let result = serde_json::to_value(&came.value).unwrap_or_default();
            ctx.begin_steps_after(&digest(&result));
        }
        let Ended { outcome, usage, made, heard, .. } = came.value;
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
    let outcome = match closed(&tool, &ctx, result).await {
        // What its caller had no time left for is to be tried again.
        Err(error) if error.is_timeout() && leaves_no_time(&ctx) => return Err(error),
        result => Outcome::of(result)?,
    };
    ctx.check_all_replayed()?;
    let usage = tool.is_composite().then(|| ctx.usage_tree()).filter(|used| !used.is_zero());
    let (made, heard) = (plane.made.below(&ctx.key()), ctx.frame().user_messages.take());
    Ok(Ended { usage, made, heard, ..Ended::of(outcome, &ctx) })
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
