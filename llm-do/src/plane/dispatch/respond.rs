//! A single answer of a model, for a tool that is not a worker.

use llm_do_providers::{Message, Response};

use super::Run;
use crate::base::error::CallError;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::context::CallContext;

impl Run {
    /// Asks the model of a worker once, as a request of the call of `ctx`.
    pub(super) async fn respond(
        &self,
        ctx: &CallContext,
        spec: &WorkerSpec,
        messages: Vec<Message>,
    ) -> Result<Response, CallError> {
        let worker = self.plane.registry.inline(spec, ctx.declared(), ctx.name())?;
        let no_worker = || CallError::NotFound { tool: spec.name().to_owned(), hint: String::new() };
        let plan = worker.plan().ok_or_else(no_worker)?;
        self.setup(ctx).worker_run(plan, &plan.instructions, ctx).await?.respond(messages).await
    }
}
