//! Calls in a journal: what is recorded of one, and what becomes of it when it is replayed.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use llm_do_providers::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::open_call::OpenCall;
use super::perform::{Prepared, panicked, perform};
use super::{Plane, Run};
use crate::context::{CallContext, Way};
use crate::error::{CallError, Fault, chain};
use crate::event::{self, Caller};
use crate::journal::{StepKind, Visit};
use crate::registry::Registered;
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
}

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
    Panicked(String),
    InvalidArguments(Fault),
    GaveUp(String),
}

impl Outcome {
    /// Returns what is to be recorded; an error that ends the run comes to no end worth that.
    pub(super) fn of(result: Result<ToolReturn, CallError>) -> Result<Self, CallError> {
        match result {
            Ok(ToolReturn { value, attachments, note, .. }) => Ok(Self::Result { value, attachments, note }),
            Err(error) if !error.is_mendable() || error.is_timeout() => Err(error),
            Err(CallError::Failed { source, .. }) => Ok(Self::Failed(chain(source.as_ref()))),
            Err(CallError::Panicked { message, .. }) => Ok(Self::Panicked(message)),
            Err(CallError::InvalidArguments { message, .. }) => Ok(Self::InvalidArguments(message)),
            Err(CallError::GaveUp { message, .. }) => Ok(Self::GaveUp(message)),
            Err(error) => Err(error),
        }
    }

    pub(super) fn into_result(self, tool: &str) -> Result<ToolReturn, CallError> {
        let tool = tool.to_owned();
        match self {
            Self::Result { value, attachments, note } => Ok(ToolReturn { value, attachments, note, subtask: None }),
            Self::Failed(text) => Err(CallError::Failed { tool, source: text.into() }),
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

impl Run {
    /// Finds the place of a call in the journal, if there is one.
    pub(super) fn place(
        &self,
        ctx: &CallContext,
        tool: &Registered,
        prepared: &Prepared,
    ) -> Result<Option<Visit>, CallError> {
        let (Some(_), Some(caller)) = (ctx.journal(), ctx.caller()) else { return Ok(None) };
        if ctx.frame().by == Caller::User {
            // The user's call is the run, which has its place already.
            caller.frame().step.get().into_iter().for_each(|step| drop(ctx.frame().step.set(step.clone())));
            return Ok(None);
        }
        let arguments = prepared.arguments().map_err(|fault| CallError::invalid(tool.name(), fault))?.into_owned();
        let kind = if tool.is_composite() { StepKind::Call } else { StepKind::Tool };
        let (step, visit) = caller.frame().places.next(&caller.key(), kind, Arc::clone(&tool.spec.name), arguments);
        drop(ctx.frame().step.set(step));
        Ok(Some(visit))
    }

    /// Runs a call, unless the journal has its result.
    pub(super) async fn record(
        &self,
        tool: &Arc<Registered>,
        prepared: Prepared,
        ctx: &CallContext,
        open: &mut OpenCall<'_>,
    ) -> Result<ToolReturn, CallError> {
        let Some(step) = ctx.frame().step.get().cloned() else { unreachable!("a call with a visit has its step") };
        let way = if tool.is_composite() { Way::Call } else { Way::Step };
        let (plane, inner, callee) = (Arc::clone(&self.plane), ctx.clone(), Arc::clone(tool));
        let local = async move {
            // A panic is an end as well, and what the call did before it is not to be repeated.
            let body = AssertUnwindSafe(owned(Arc::clone(&plane), Arc::clone(&callee), prepared, inner.clone()))
                .catch_unwind();
            let result = body.await.unwrap_or_else(|payload| Err(panicked(&callee, payload.as_ref())));
            let outcome = Outcome::of(result)?;
            inner.all_used()?;
            let usage = callee.is_composite().then(|| inner.usage_tree()).filter(|used| !used.is_zero());
            let made = plane.made.below(&inner.key());
            Ok(Ended { outcome, usage, made })
        };
        let came = ctx.recorded(way, step, local).await?;
        let Ended { outcome, usage, made } = came.value;
        open.is_replayed = came.is_replayed;
        if let Some(used) = usage.filter(|_| came.is_replayed) {
            ctx.add_recorded(&used);
        }
        if came.is_replayed {
            self.recreate(ctx, made)?;
        }
        outcome.into_result(tool.name())
    }
}

/// Performs a call with what it needs in its own hands, so that a journal may run it wherever it wants.
fn owned(
    plane: Arc<Plane>,
    tool: Arc<Registered>,
    prepared: Prepared,
    ctx: CallContext,
) -> BoxFuture<'static, Result<ToolReturn, CallError>> {
    Box::pin(async move { perform(&plane, &tool, prepared, &ctx, None).await })
}
