//! Tools by which a model makes workers, and calls them.

use std::path::PathBuf;

use llm_do_macros::{tool, toolset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::CallContext;
use crate::error::{CallError, Result};
use crate::worker_spec::WorkerSpec;

toolset! {
    /// Make workers, and call those that were made.
    ///
    /// A worker that a model made lives as long as the [`Runtime`](crate::Runtime), or longer as a file, with
    /// [`worker_store`](crate::RuntimeBuilder::worker_store). It is in no registry: only [`worker_call`] reaches it, and it
    /// reaches nothing else. It may call at most what the worker, tool or entry may that made it, and a call of it has
    /// depth, limits, approvals, events and the journal as any worker's.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::toolsets::{worker_call, worker_create, workers};
    /// use llm_do::{ApprovalMode, json};
    ///
    /// /// Do what needs more than one pair of eyes.
    /// #[worker(toolsets = [workers])]
    /// async fn lead(task: String) -> String;
    ///
    /// /// Does by code what a model of `lead` may do.
    /// #[entry(toolsets = [workers])]
    /// async fn translate(ctx: &CallContext<translate>, text: String) -> Result<String> {
    ///     let made = worker_create {
    ///         name: "translator".into(),
    ///         instructions: "Translate into French.".into(),
    ///         description: "Translates a text.".into(),
    ///         model: None,
    ///         toolsets: Vec::new(),
    ///         output_schema: None,
    ///         input_schema: None,
    ///     };
    ///     ctx.call(made).await?;
    ///     let call = worker_call { worker: "translator".into(), input: text.into(), attachments: Vec::new() };
    ///     Ok(ctx.call(call).await?.to_string())
    /// }
    ///
    /// # #[cfg(feature = "testing")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let model = llm_do::testing::TestModel::new().text("Bonjour !");
    /// // Without this, somebody would be asked whether the worker may be made.
    /// let runtime = Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model).build()?;
    /// assert_eq!(runtime.run(translate { text: "Hello!".into() }).await?, json!("Bonjour !").to_string());
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "testing"))]
    /// # fn main() {}
    /// ```
    pub workers = [worker_create, worker_call];
}

/// Make a worker: an assistant with instructions and tools of its own. Call it by `worker_call`.
#[tool(approval = ask, summary = "make the worker {name}, which may call {toolsets}, on the model {model}")]
pub async fn worker_create(
    ctx: &CallContext,
    /// Its name: 1 to 64 letters, digits, `_` or `-`, and no other worker's or tool's.
    name: String,
    /// What it is and how it works. It knows nothing but this and its input.
    instructions: String,
    /// What it does, in a sentence.
    description: String,
    /// Its model, `provider:model`; leave it out for the usual one.
    model: Option<String>,
    /// The names of the tools that it may call, of those that you may call yourself.
    #[arg(default)]
    toolsets: Vec<String>,
    /// A JSON schema of its result; leave it out for plain text.
    output_schema: Option<Map<String, Value>>,
    /// A JSON schema of its input, an object; leave it out for plain text.
    input_schema: Option<Map<String, Value>>,
) -> Result<Value> {
    let mut spec = WorkerSpec::new(name.trim(), instructions.trim()).description(description).toolsets(toolsets);
    spec.model = model;
    spec.output_schema = output_schema.map(Value::Object);
    spec.input_schema = input_schema.map(Value::Object);
    ctx.make_worker(spec).await
}

/// Call a worker that was made by `worker_create`, and get its result.
#[tool(approval = pre_approved)]
pub async fn worker_call(
    ctx: &CallContext,
    /// The name of the worker.
    worker: String,
    /// What it is to do: a text, or an object if it was made with an input schema.
    input: Input,
    /// Files for it: paths below the project's root.
    #[arg(default)]
    attachments: Vec<PathBuf>,
) -> Result<Value, CallError> {
    let input = match input {
        Input::Text(text) => Value::String(text),
        Input::Arguments(arguments) => Value::Object(arguments),
    };
    ctx.call_made(worker.trim(), input, attachments).await
}

/// The input of a worker that was made: a text, or the arguments of its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a text, or an object of arguments")]
pub enum Input {
    /// A text.
    Text(String),
    /// Arguments.
    Arguments(Map<String, Value>),
}

impl<T: Into<String>> From<T> for Input {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}
