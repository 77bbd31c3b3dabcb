//! The messages between the application and its interpreter process: one JSON value per line.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::super::calls::CallAnswer;
use super::super::exception::Exception;
use super::super::names::ScriptCallee;
use crate::plane::script::Script;

/// The environment variable that makes a process the interpreter of another process.
pub(super) const VARIABLE: &str = "LLM_DO_INTERPRETER";
/// The first line that the interpreter process writes.
pub(super) const READY: &str = "\"llm-do interpreter 5\"";

/// A tool, in the form for the interpreter.
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

/// A request of the application to the interpreter.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// The tools, sent before all code.
    Tools(Vec<ToolData>),
    /// Code to check and to run.
    Run(String),
    /// The answers to the pending calls of the code, in order.
    Answers(Vec<CallAnswer>),
    /// A script to read, sent instead of tools and code: the function with this name in the text.
    Script { function: String, text: String },
    /// The tools of the script, to check the script against them.
    Link(Vec<ToolData>),
    /// The arguments of a call of the script.
    Call(Value),
    /// A script and its stubs, sent instead of tools and code. Their types are checked, and those of later scripts.
    Types { text: String, module: String },
}

/// A script that was read.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct ScriptData {
    pub(crate) description: String,
    pub(crate) parameters: Value,
    pub(crate) output: Value,
    pub(crate) defaults: Map<String, Value>,
    pub(crate) toolsets: Vec<String>,
    /// Whether its front matter has an effect.
    pub(crate) has_effect: bool,
}

impl From<&Script> for ScriptData {
    fn from(script: &Script) -> Self {
        Self {
            description: script.description.clone(),
            parameters: script.parameters.clone(),
            output: script.output.clone(),
            defaults: script.defaults.clone(),
            toolsets: script.toolsets.iter().map(|(name, _)| name.clone()).collect(),
            has_effect: script.effect.is_some(),
        }
    }
}

/// A reply of the interpreter.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The texts in the code that is about to run.
    Literals(BTreeSet<String>),
    /// The names and arguments of the calls whose answers it waits for.
    Calls(Vec<(Arc<str>, Value)>),
    /// The script, or its faults.
    Script(Result<ScriptData, Vec<String>>),
    /// The faults of the script with its tools.
    Linked(Vec<String>),
    /// The output of the type checker, or the reason of its failure.
    Types(Result<String, String>),
    /// The code has ended.
    Ended {
        printed: String,
        #[serde(flatten)]
        end: End,
    },
}

/// The end of code.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// The value of its last expression.
    Value(Value),
    /// The code was refused, and nothing ran.
    Refused(String),
    /// An exception or a broken rule ended the code.
    Failed(String),
    /// An exception ended the script.
    Raised(Exception),
}
