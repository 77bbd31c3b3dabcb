//! Tools with which a model creates and calls workers.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]
#![expect(clippy::too_many_arguments, reason = "the settings of a worker")]

use std::path::PathBuf;

use llm_do_macros::{tool, toolset};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use llm_do_core::base::error::{CallError, Result};
use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::declare::toolset::Member;
use llm_do_core::declare::worker_spec::WorkerSpec;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::definition::{Location, ToolsetDef};

/// The maximum size of the instructions of a created worker, and of its description, in bytes.
const MAX_INSTRUCTIONS: usize = 100_000;
const MAX_DESCRIPTION: usize = 4_000;
/// The maximum size of the name of a model or of a tool, in bytes.
const MAX_NAME: usize = 256;

toolset! {
    /// Create workers and call them.
    pub workers = [worker_create, worker_call, worker_list, worker_replace];
}

/// The same tools, under names like those of the first two in the Python llm-do.
const DYNAMIC_AGENTS: [Member; 4] = [
    Member::new("worker_create").shown_as("agent_create"),
    Member::new("worker_call").shown_as("agent_call"),
    Member::new("worker_list").shown_as("agent_list"),
    Member::new("worker_replace").shown_as("agent_replace"),
];

inventory::submit! {
    ToolsetDef::new(
        "dynamic_agents",
        "Create workers and call them, by the names of the Python llm-do.",
        &DYNAMIC_AGENTS,
        Location::new(file!(), line!()),
    )
}

/// Create a worker: an assistant with its own instructions and tools. Call it with `worker_call`.
#[tool(effect = idempotent, approval = ask, summary = "create the worker {name}: tools {toolsets}, model {model}")]
pub async fn worker_create(
    ctx: &CallContext,
    /// The name: 1 to 64 letters, digits, `_` or `-`; not the name of another worker or tool.
    name: String,
    /// The instructions. The worker knows only these and its input.
    instructions: String,
    /// What the worker does, in one sentence.
    description: String,
    /// The model, `provider:model`; omit it for the default model.
    model: Option<String>,
    /// The names of the tools that the worker may call, from those that you may call yourself.
    #[arg(default)]
    toolsets: Vec<String>,
    /// The JSON schema of the result; omit it for plain text.
    output_schema: Option<Map<String, Value>>,
    /// The JSON schema of the input, an object; omit it for plain text.
    input_schema: Option<Map<String, Value>>,
) -> Result<Value> {
    ctx.create_worker(spec(&name, &instructions, description, model, toolsets, output_schema, input_schema)?).await
}

/// Replace a worker that you created with `worker_create`: later calls of its name get the new worker.
#[tool(effect = idempotent, approval = ask, summary = "replace the worker {name}: tools {toolsets}, model {model}")]
pub async fn worker_replace(
    ctx: &CallContext,
    /// The name of the worker.
    name: String,
    /// All of its instructions. The worker knows only these and its input.
    instructions: String,
    /// What the worker does, in one sentence.
    description: String,
    /// The model, `provider:model`; omit it for the default model.
    model: Option<String>,
    /// The names of all tools that the worker may call, from those that you may call yourself.
    #[arg(default)]
    toolsets: Vec<String>,
    /// The JSON schema of the result; omit it for plain text.
    output_schema: Option<Map<String, Value>>,
    /// The JSON schema of the input, an object; omit it for plain text.
    input_schema: Option<Map<String, Value>>,
) -> Result<Value> {
    ctx.replace_worker(spec(&name, &instructions, description, model, toolsets, output_schema, input_schema)?).await
}

/// Returns the worker that a model describes.
fn spec(
    name: &str,
    instructions: &str,
    description: String,
    model: Option<String>,
    toolsets: Vec<String>,
    output_schema: Option<Map<String, Value>>,
    input_schema: Option<Map<String, Value>>,
) -> Result<WorkerSpec> {
    check_size("the text of the instructions", instructions, MAX_INSTRUCTIONS)?;
    check_size("the description", &description, MAX_DESCRIPTION)?;
    for name in model.iter().chain(&toolsets) {
        check_size("a name", name, MAX_NAME)?;
    }
    let mut spec = WorkerSpec::new(name.trim(), instructions.trim()).description(description).toolsets(toolsets);
    spec.model = model;
    spec.output_schema = output_schema.map(Value::Object);
    spec.input_schema = input_schema.map(Value::Object);
    Ok(spec)
}

fn check_size(what: &str, text: &str, max: usize) -> Result<()> {
    match text.len() {
        bytes if bytes > max => Err(format!("{what} has {bytes} bytes; the maximum is {max}: write less").into()),
        _ => Ok(()),
    }
}

/// List the workers that were created with `worker_create`: what each does and may call, and whether you created it.
#[tool(effect = read_only, inline)]
#[must_use]
pub fn worker_list(ctx: &CallContext) -> Value {
    ctx.list_workers()
}

/// Call a worker that was created with `worker_create`, and return its result.
#[tool(approval = pre_approved)]
pub async fn worker_call(
    ctx: &CallContext,
    /// The name of the worker.
    worker: String,
    /// The input: a text, or an object if the worker has an input schema.
    input: Input,
    /// Files for the worker: paths below the project's root.
    #[arg(default)]
    attachments: Vec<PathBuf>,
) -> Result<ToolReturn, CallError> {
    let input = match input {
        Input::Text(text) => Value::String(text),
        Input::Arguments(arguments) => Value::Object(arguments),
    };
    ctx.call_runtime_worker(worker.trim(), input, attachments).await
}

/// The input of a worker that was created at run time: a text, or arguments that follow its schema.
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
