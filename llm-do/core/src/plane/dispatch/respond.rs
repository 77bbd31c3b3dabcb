//! A single answer of a model, for a tool that is not a worker.

use llm_do_providers::{Message, Response};

use super::Run;
use super::perform::worker_run;
use crate::base::error::CallError;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::context::CallContext;

/// Asks the model of a worker once, as a request of the call of `ctx`.
pub(super) async fn respond(
    run: &Run,
    ctx: &CallContext,
    spec: &WorkerSpec,
    messages: Vec<Message>,
) -> Result<Response, CallError> {
    let worker = run.plane.registry.inline(spec, ctx.declared(), ctx.name())?;
    let no_worker = || CallError::NotFound { tool: spec.name().to_owned(), hint: String::new() };
    let plan = worker.plan().ok_or_else(no_worker)?;
    worker_run(run, plan, &plan.instructions, ctx).await?.respond(messages).await
}
