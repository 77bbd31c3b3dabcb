//! What the application and its interpreter process write to each other: one JSON value a line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::calls::Answer;
use super::super::names::ScriptCallee;

/// The variable that makes a process the interpreter of another.
pub(super) const VARIABLE: &str = "LLM_DO_INTERPRETER";
/// The first line that the interpreter process writes.
pub(super) const READY: &str = "\"llm-do interpreter 2\"";

/// A tool, as the interpreter knows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct ToolData {
    shown: Arc<str>,
    description: String,
    parameters: Arc<Value>,
    output: Option<Value>,
    is_read_only: bool,
}

impl From<&ScriptCallee> for ToolData {
    fn from(tool: &ScriptCallee) -> Self {
        let ScriptCallee { shown, description, parameters, output, is_read_only } = tool.clone();
        Self { shown, description, parameters, output, is_read_only }
    }
}

impl From<ToolData> for ScriptCallee {
    fn from(tool: ToolData) -> Self {
        let ToolData { shown, description, parameters, output, is_read_only } = tool;
        Self { shown, description, parameters, output, is_read_only }
    }
}

/// What the application asks of the interpreter.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// The tools, before all code.
    Tools(Vec<ToolData>),
    /// Code to check and to run.
    Run(String),
    /// The answers to the calls that the code waits for, in their order.
    Answers(Vec<Answer>),
}

/// What the interpreter does.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// It waits for the answers to these calls of tools: their names, and the arguments.
    Calls(Vec<(Arc<str>, Value)>),
    /// The code has ended.
    Ended {
        printed: String,
        #[serde(flatten)]
        end: End,
    },
}

/// How code ended.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// The value of its last expression.
    Value(Value),
    /// It was refused before anything ran.
    Refused(String),
    /// An exception ended it.
    Failed(String),
}
