//! Requests to models from code: a question, or a call of a worker that is defined at run time.

use std::future::IntoFuture;
use std::marker::PhantomData;

use futures_util::future::BoxFuture;
use llm_do_providers::Settings;
use serde::Serialize;
use serde_json::Value;

use super::CallContext;
use crate::base::error::{CallError, Fault};
use crate::declare::nesting;
use crate::declare::prompt::Prompt;
use crate::declare::tool::{FromReturn, WorkerOutput};
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::Caller;
use crate::plane::declared::Callee;

/// The name of the worker that answers questions.
pub(crate) const QUESTION: &str = "llm_ask";

/// A question to a model, or a call of a worker that is defined at run time. `.await` sends it.
///
/// It counts as a call of a worker: it is one level deeper than its caller, and limits, events and the journal apply
/// to it.
#[must_use = "does nothing until it is awaited"]
pub struct Ask<T = String> {
    ctx: CallContext,
    spec: WorkerSpec,
    arguments: Result<Value, String>,
    output: PhantomData<fn() -> T>,
}

impl<T> Ask<T> {
    pub(super) fn new(ctx: CallContext, spec: WorkerSpec, prompt: impl Into<Prompt>) -> Self {
        Self { ctx, spec, arguments: to_json(prompt.into()), output: PhantomData }
    }

    /// Sets the model, `provider:model`. Default: the worker's, otherwise the run's.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.spec = self.spec.model(name);
        self
    }

    /// Sets the instructions, replacing earlier ones. Default for a question: none.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.spec.instructions = text.into();
        self
    }

    /// Sets the settings of the requests. Default: the worker's.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.spec = self.spec.settings(settings);
        self
    }

    /// Sets the prompt. Default: the question; for a worker, an empty prompt.
    pub fn input(mut self, prompt: impl Into<Prompt>) -> Self {
        self.arguments = to_json(prompt.into());
        self
    }

    /// Sets the arguments of a worker that has an [`input_schema`](WorkerSpec::input_schema). Default: none.
    pub fn arguments(mut self, arguments: impl Serialize) -> Self {
        self.arguments = to_json(arguments);
        self
    }

    /// Requests a `U` instead of plain text. Use [`ToolReturn`](crate::declare::tool::ToolReturn) if the model may create files.
    pub fn output<U: WorkerOutput>(self) -> Ask<U> {
        let Self { ctx, spec, arguments, .. } = self;
        Ask { ctx, spec: spec.output::<U>(), arguments, output: PhantomData }
    }

    /// Returns the result as JSON of any shape, for a worker with an [`output_schema`](WorkerSpec::output_schema).
    pub fn json(self) -> Ask<Value> {
        let Self { ctx, spec, arguments, .. } = self;
        Ask { ctx, spec, arguments, output: PhantomData }
    }
}

impl<T: FromReturn + 'static> IntoFuture for Ask<T> {
    type Output = Result<T, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self { ctx, spec, arguments, .. } = self;
            let returned = ctx.dispatch(Callee::Inline(&spec), arguments.into(), Caller::Code).await?;
            let invalid = |error: serde_json::Error| CallError::Result {
                tool: spec.name,
                message: Fault::reading(&error).to_string(),
            };
            T::from_return(returned).map_err(invalid)
        })
    }
}

impl<T> std::fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ask").field("worker", &self.spec.name).finish_non_exhaustive()
    }
}

fn to_json(arguments: impl Serialize) -> Result<Value, String> {
    nesting::into_value(arguments).map_err(|fault| fault.model_message().to_owned())
}
