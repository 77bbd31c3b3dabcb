//! Tools by which a model makes workers, and calls them.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]
#![expect(clippy::too_many_arguments, reason = "what a worker is made of")]

use std::path::PathBuf;

use llm_do_macros::{tool, toolset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::error::{CallError, Result};
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::context::CallContext;

toolset! {
    /// Make workers, and call those that were made.
    pub workers = [worker_create, worker_call];
}

/// Make a worker: an assistant with instructions and tools of its own. Call it by `worker_call`.
#[tool(approval = ask, summary = "make the worker {name}: tools {toolsets}, model {model}")]
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
) -> Result<ToolReturn, CallError> {
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
