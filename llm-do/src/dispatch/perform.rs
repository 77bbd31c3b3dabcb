//! What runs once a call is admitted: a function, or a worker's turns.

use std::any::Any;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Plane;
use crate::context::{CallContext, Given};
use crate::definition::{Ask, Implementation, Start, WorkerDef};
use crate::error::CallError;
use crate::registry::Registered;
use crate::tool::{Failure, ToolReturn, Way};
use crate::worker::{Limits, Output, WorkerRun};

/// A call with its arguments decoded.
pub(super) struct Prepared {
    body: Body,
    /// The arguments as they are approved and reported: decoded, defaults filled in.
    pub(super) arguments: Value,
}

enum Body {
    Function(Start),
    Worker(Box<Work>),
}

/// A worker's call, on the heap: functions nest deeper than workers, and their calls need none of it on the stack.
struct Work {
    worker: WorkerDef,
    ask: Ask,
    /// Returns a value of the worker's output type as that reads it, or says why it is none.
    check: fn(Value) -> Result<Value, String>,
}

impl Prepared {
    /// Checks and decodes arguments; none at all stands for an empty object.
    pub(super) fn decode(tool: &Registered, arguments: Given) -> Result<Self, CallError> {
        let invalid = |message| CallError::InvalidArguments { tool: tool.name().to_owned(), message };
        let given = arguments.map_err(invalid)?;
        let given = if given.is_null() { Value::Object(Map::new()) } else { given };
        tool.validate(&given).map_err(invalid)?;
        match &tool.def.implementation {
            Implementation::Function(start) => {
                let (start, arguments) = start(given).map_err(invalid)?;
                Ok(Self { body: Body::Function(start), arguments })
            }
            Implementation::Worker { worker, ask, output } => {
                let (ask, arguments) = ask(given).map_err(invalid)?;
                Ok(Self { body: Body::Worker(Box::new(Work { worker: *worker, ask, check: *output })), arguments })
            }
        }
    }

    /// Runs the call to its end.
    pub(super) async fn perform(
        self,
        plane: &Plane,
        tool: &Registered,
        ctx: &CallContext,
    ) -> Result<ToolReturn, CallError> {
        match self.body {
            Body::Function(start) => function(tool, start, ctx).await,
            Body::Worker(work) => Box::pin(plane.work(*work, tool, ctx)).await,
        }
    }
}

impl Plane {
    /// Runs a worker's turns.
    async fn work(&self, work: Work, tool: &Registered, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        let Work { worker, ask, check } = work;
        let prompt = ask(ctx).prompt().await?;
        let run = self.worker_run(tool, &worker, check, ctx)?;
        let limits = Limits { max_turns: worker.max_turns, retries: worker.retries };
        Ok(run.run(prompt, limits).await?.into())
    }

    fn worker_run(
        &self,
        tool: &Registered,
        worker: &WorkerDef,
        check: fn(Value) -> Result<Value, String>,
        ctx: &CallContext,
    ) -> Result<WorkerRun, CallError> {
        let model = self.models.choose(tool.name(), worker)?;
        let tools = ctx.frame().declared.as_ref().map(|declared| Arc::clone(declared.specs())).unwrap_or_default();
        let unfit = |message| {
            let (worker, model) = (tool.name().to_owned(), model.name().to_owned());
            CallError::UnfitModel { worker, model, message }
        };
        let profile = model.profile();
        if let Some(lacking) = tool.asked.server_side_tools.iter().find(|tool| !profile.runs(tool)) {
            return Err(unfit(format!(
                "its provider has no `{lacking}` for it; choose another model, or leave it out"
            )));
        }
        let shape = tool.output_shape();
        let output = Output::new(worker.output, shape, check, profile, !tools.is_empty()).map_err(unfit)?;
        let instructions = if worker.instructions.is_empty() { tool.description() } else { worker.instructions };
        Ok(WorkerRun {
            ctx: ctx.clone(),
            model,
            instructions: output.instructed(instructions).into(),
            tools,
            server_side_tools: tool.asked.server_side_tools.clone(),
            output,
            settings: tool.asked.settings.clone().over(&self.settings),
            streaming: self.streaming,
            return_denials: self.return_permission_errors,
        })
    }
}

/// Runs a function where it belongs: in place, or off the async threads.
async fn function(tool: &Registered, start: Start, ctx: &CallContext) -> Result<ToolReturn, CallError> {
    let result = match start(ctx).0 {
        Way::Failed(error) => return Err(error),
        Way::Inline(body) => body(),
        Way::Future(body) => body.await,
        Way::Blocking(body) => match tokio::task::spawn_blocking(body).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => return Err(panicked(tool, error.into_panic().as_ref())),
            Err(_) => return Err(CallError::Cancelled { tool: tool.name().to_owned() }),
        },
    };
    result.map_err(|Failure(source)| CallError::Failed { tool: tool.name().to_owned(), source })
}

pub(super) fn panicked(tool: &Registered, payload: &(dyn Any + Send)) -> CallError {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    CallError::Panicked { tool: tool.name().to_owned(), message: text.unwrap_or("no text").to_owned() }
}
