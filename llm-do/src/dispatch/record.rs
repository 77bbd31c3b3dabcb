//! Calls in a journal: what is recorded of one, and what becomes of it when it is replayed.

use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use llm_do_providers::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::open_call::OpenCall;
use super::perform::{closed, perform, unless, unpanicked};
use super::{Plane, Run};
use crate::context::{CallContext, Way};
use crate::error::{CallError, Fault, Recorded, chain};
use crate::event::{self, Caller, Kind};
use crate::journal::{StepKind, StepSpec, Visit, too_deep};
use crate::registry::{Prepared, Registered};
use crate::tool::ToolReturn;
use crate::usage::UsageTree;

/// How a call ended, as a journal keeps it: its result, or an error that its caller is told of.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    #[serde(flatten)]
    outcome: Outcome,
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

/// The part of a run's key under which its result is recorded.
const RESULT: &str = "result";

impl Ended {
    /// Returns what is recorded of a call that used nothing by itself.
    fn with(outcome: Outcome) -> Self {
        Self { outcome, usage: None, made: Vec::new(), heard: Vec::new() }
    }
}

/// How many objects a result is inside of where it is recorded.
const INSIDE: usize = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Result {
        value: Value,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Failed(String),
    /// It took longer than `of` may, which is the call itself, or one below it whose error it passed on in words.
    TimedOut {
        of: String,
        after: Duration,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    Panicked(String),
    InvalidArguments(Fault),
    GaveUp(String),
}

impl Outcome {
    /// Returns what is to be recorded; an error that ends the run comes to no end worth that.
    pub(super) fn of(result: Result<ToolReturn, CallError>) -> Result<Self, CallError> {
        match result {
            Ok(returned) => Ok(Self::returned(returned)),
            Err(error) if !error.is_mendable() => Err(error),
            Err(CallError::Timeout { tool, after }) => Ok(Self::TimedOut { of: tool, after, text: None }),
            Err(error @ CallError::Failed { .. }) => Ok(Self::failed(&error)),
            Err(CallError::Panicked { message, .. }) => Ok(Self::Panicked(message)),
            Err(CallError::InvalidArguments { message, .. }) => Ok(Self::InvalidArguments(message)),
            Err(CallError::GaveUp { message, .. }) => Ok(Self::GaveUp(message)),
            Err(error) => Err(error),
        }
    }

    /// A result that no journal takes is recorded as a failure: what was done for it is not to be done again.
    fn returned(ToolReturn { value, attachments, note, .. }: ToolReturn) -> Self {
        match too_deep(&value, INSIDE) {
            Some(fault) => Self::Failed(fault),
            None => Self::Result { value, attachments, note },
        }
    }

    fn failed(error: &CallError) -> Self {
        let text = error.source().map(chain).unwrap_or_default();
        match error.timeout() {
            Some((of, after)) => Self::TimedOut { of: of.to_owned(), after, text: Some(text) },
            None => Self::Failed(text),
        }
    }

    pub(super) fn into_result(self, tool: &str) -> Result<ToolReturn, CallError> {
        let tool = tool.to_owned();
        match self {
            Self::Result { value, attachments, note } => Ok(ToolReturn { value, attachments, note, subtask: None }),
            Self::Failed(text) => Err(CallError::Failed { tool, source: text.into() }),
            Self::TimedOut { of, after, text: None } => Err(CallError::Timeout { tool: of, after }),
            Self::TimedOut { of, after, text: Some(text) } => {
                let cause = CallError::Timeout { tool: of, after };
                Err(CallError::Failed { tool, source: Recorded { text, cause }.into() })
            }
            Self::Panicked(message) => Err(CallError::Panicked { tool, message }),
            Self::InvalidArguments(message) => Err(CallError::InvalidArguments { tool, message }),
            Self::GaveUp(message) => Err(CallError::GaveUp { worker: tool, message }),
        }
    }
}

/// Returns how a recorded call of `tool` ended: a value of a step [`Call`](StepKind::Call) or [`Result`](StepKind::Result).
pub(crate) fn recorded_outcome(tool: &str, value: Value) -> event::Outcome {
    let Ok(Ended { outcome, .. }) = serde_json::from_value(value) else {
        return event::Outcome::Error(format!("what is recorded is no result of `{tool}`"));
    };
    let result = outcome.into_result(tool).map(|returned| returned.value);
    result.map_or_else(|error| event::Outcome::Error(chain(&error)), event::Outcome::Result)
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

/// Returns whether the result of a root call is looked up before the call is run.
///
/// That of a worker is not: its recorded answers are replayed, since what was said in it goes into the conversation.
pub(super) fn is_recorded_root(ctx: &CallContext, tool: &Registered) -> bool {
    ctx.frame().by == Caller::User && tool.kind() != Kind::Worker && ctx.journal().is_some()
}

impl CallContext {
    /// Records the result of a root worker, and returns the recorded one.
    pub(super) async fn keep_result(
        &self,
        run: &StepSpec,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        // What there was no time for is to be tried again.
        let outcome = match result {
            Err(error) if error.is_timeout() => return Err(error),
            result => Outcome::of(result)?,
        };
        self.all_used()?;
        let step = run.within(StepKind::Result, RESULT);
        let ended = Ended::with(outcome);
        let came = self.recorded(Way::Step, step, async { Ok(ended) }).await?;
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
            Caller::User => (Way::Step, step.within(StepKind::Result, RESULT)),
            _ if tool.is_composite() => (Way::Call, *step),
            _ => (Way::Step, *step),
        };
        let local = end(Arc::clone(&self.plane), Arc::clone(tool), prepared, ctx.clone());
        let came = ctx.recorded(way, step, local).await?;
        if ctx.frame().by == Caller::User {
            ctx.begin_after();
        }
        let Ended { outcome, usage, made, heard } = came.value;
        open.is_replayed = came.is_replayed;
        // What guards of a root call used is counted already: it is part of what the run used.
        let is_counted = || ctx.frame().by == Caller::User && !ctx.usage_tree().is_zero();
        if let Some(used) = usage.filter(|_| came.is_replayed && !is_counted()) {
            ctx.add_recorded(&used);
        }
        if came.is_replayed {
            self.recreate(ctx, made)?;
            for said in &heard {
                ctx.hear(said);
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
    ctx.all_used()?;
    let usage = tool.is_composite().then(|| ctx.usage_tree()).filter(|used| !used.is_zero());
    Ok(Ended { outcome, usage, made: plane.made.below(&ctx.key()), heard: ctx.frame().heard.take() })
}

/// Returns whether a call that took too long leaves its caller no time either, as a root call does.
fn leaves_no_time(ctx: &CallContext) -> bool {
    ctx.frame().by == Caller::User || ctx.caller().is_some_and(|caller| caller.in_time().is_err())
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
    unless(|| ctx.out_of_own_time().boxed(), body).await.and_then(|caught| unpanicked(tool, caught))
}
