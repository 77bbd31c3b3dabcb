//! A tool that delegates a task, as data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Acts, FunctionTool};
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::{Effect, ToolReturn};

/// The description for models, unless another is set.
const DESCRIPTION: &str = "Delegate a task to the worker that fits it best, and return its answer.";

/// A tool as data that delegates a task to the worker that fits it best; added by
/// [`RuntimeBuilder::tool`](crate::session::runtime::RuntimeBuilder::tool).
///
/// Its arguments are `task`, a text, and `inputs`, an optional object. The worker is chosen as by
/// [`CallContext::subtask`](crate::plane::context::CallContext::subtask), with the hints of the tool. The tool itself needs no approval;
/// the call of the worker is decided as every call of it.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::runtime::SubtaskTool;
/// use llm_do::worker::WorkerSpec;
/// use llm_do::json;
/// # use llm_do::testing::TestModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let translator = WorkerSpec::new("translator", "Translate into French.").hints(["translation", "french"]);
/// let planner = WorkerSpec::new("planner", "Plan a day.");
/// let tool = SubtaskTool::new("translate", ["translation"]).workers(["translator", "planner"]);
/// # let model = TestModel::new().text("Bonjour !");
/// let builder = Runtime::builder().worker(translator).worker(planner).tool(tool);
/// # let builder = builder.force_model(model).approval_mode(llm_do::approval::ApprovalMode::ApproveAll);
/// let runtime = builder.build()?;
/// assert_eq!(runtime.run_named("translate", json!({ "task": "Say hello." })).await?, "Bonjour !");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct SubtaskTool {
    name: String,
    #[serde(default = "description", skip_serializing_if = "is_default")]
    description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workers: Option<Vec<String>>,
}

fn description() -> String {
    DESCRIPTION.to_owned()
}

fn is_default(description: &str) -> bool {
    description == DESCRIPTION
}

impl SubtaskTool {
    /// Defines a tool with this name, 1 to 64 letters, digits, `_` or `-`, and these hints, in words of the workers'
    /// hints.
    pub fn new(name: impl Into<String>, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        let hints = hints.into_iter().map(Into::into).collect();
        Self { name: name.into(), description: description(), hints, workers: None }
    }

    /// Sets the description for models. Default: that it delegates a task.
    pub fn description(self, text: impl Into<String>) -> Self {
        Self { description: text.into(), ..self }
    }

    /// Sets the workers that it chooses from, by name; toolsets of workers can be named too. Default: all workers.
    pub fn workers(self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        Self { workers: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    fn request(hints: &[String], arguments: Value) -> SubtaskRequest {
        let Value::Object(mut arguments) = arguments else { return SubtaskRequest::default() };
        let task = arguments.get("task").and_then(Value::as_str).unwrap_or_default();
        let request = hints.iter().fold(SubtaskRequest::new(task), SubtaskRequest::hint);
        let inputs = arguments.get_mut("inputs").and_then(Value::as_object_mut).map(std::mem::take);
        inputs.unwrap_or_default().into_iter().fold(request, |request, (name, value)| request.input(name, value))
    }
}

impl From<SubtaskTool> for FunctionTool {
    fn from(tool: SubtaskTool) -> Self {
        let SubtaskTool { name, description, hints, workers } = tool;
        let delegate = move |_, arguments| {
            let request = SubtaskTool::request(&hints, arguments);
            async move { Ok(ToolReturn::subtask(request)) }
        };
        let mut tool = Self::new(name, description, schema(), Effect::Undeclared, delegate);
        tool.acts = Acts::InCalls;
        let tool = tool.pre_approved().summary("delegate: {task}");
        match workers {
            Some(names) => tool.toolsets(names),
            None => tool,
        }
    }
}

fn schema() -> Value {
    let task = "The task, in words that a suitable worker would use in its description.";
    let properties = Map::from_iter([
        ("task".to_owned(), json!({ "type": "string", "description": task })),
        ("inputs".to_owned(), json!({ "type": "object", "description": "The inputs of the task, by name." })),
    ]);
    json!({ "type": "object", "properties": properties, "required": ["task"], "additionalProperties": false })
}
