//! The context of an evaluator: a run and its output.

use std::time::Duration;

use llm_do_core::base::usage::RunUsage;
use serde_json::Value;

use crate::dataset::Case;

/// The output of a run, and data about the run.
#[derive(Debug)]
#[non_exhaustive]
pub struct EvaluatorContext<'a> {
    /// The case.
    pub case: &'a Case,
    /// The result of the tool or worker.
    pub output: &'a Value,
    /// Wall-clock time of the run.
    pub duration: Duration,
    /// The usage of the run.
    pub usage: RunUsage,
    /// The nested calls of the run, in the order in which they started.
    pub calls: &'a [CalledTool],
    /// The schema of the result, if the tool or worker has one.
    pub schema: Option<&'a Value>,
}

/// A call that a run made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CalledTool {
    /// The registered name.
    pub name: String,
    /// Whether it returned an error.
    pub failed: bool,
}

impl EvaluatorContext<'_> {
    /// Returns the output as text: a string without quotes, any other value as JSON.
    #[must_use]
    pub fn output_text(&self) -> String {
        text(self.output)
    }
}

/// Returns a string without quotes, any other value as JSON.
pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
