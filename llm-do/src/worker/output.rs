//! How a worker's model is asked for its output, and how the answer is read.

use std::sync::Arc;

use llm_do_providers::{OutputSchema, Profile, ToolSpec};
use serde_json::Value;

use crate::schema::{OutputShape, WRAPPER};
use crate::toolset::OUTPUT_TOOL;

/// What a worker's output must be, and the way its model gives it.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    way: Way,
    shape: Arc<OutputShape>,
    check: fn(&Value) -> Result<(), String>,
}

#[derive(Clone, Debug)]
enum Way {
    /// Plain text.
    Text,
    /// The answer's text is JSON of this schema: the provider sees to it.
    Native(OutputSchema),
    /// The arguments of a call of this tool.
    Tool(ToolSpec),
}

impl Output {
    /// Chooses the way for an output of `shape` from what the model can do.
    ///
    /// `check` says whether a value is one of the worker's output type.
    pub(crate) fn new(
        shape: &Arc<OutputShape>,
        check: fn(&Value) -> Result<(), String>,
        profile: Profile,
        has_tools: bool,
    ) -> Self {
        let native = profile.native_output && (!has_tools || profile.native_output_with_tools);
        let schema = Arc::clone(&shape.schema.schema);
        let way = if shape.is_text {
            Way::Text
        } else if native {
            Way::Native(OutputSchema { name: OUTPUT_TOOL.into(), schema })
        } else {
            let description = "Gives the final result and ends the task. Call it once, when everything else is done.";
            Way::Tool(ToolSpec { name: OUTPUT_TOOL.into(), description: description.into(), parameters: schema })
        };
        Self { way, shape: Arc::clone(shape), check }
    }

    /// Returns the schema for models with native output.
    pub(crate) fn schema(&self) -> Option<&OutputSchema> {
        match &self.way {
            Way::Native(schema) => Some(schema),
            _ => None,
        }
    }

    /// Returns the output tool for models without.
    pub(crate) fn tool(&self) -> Option<&ToolSpec> {
        match &self.way {
            Way::Tool(spec) => Some(spec),
            _ => None,
        }
    }

    /// Reads an answer without tool calls.
    pub(crate) fn read_text(&self, text: &str) -> Result<Value, String> {
        match &self.way {
            Way::Text if text.trim().is_empty() => Err("the answer was empty; answer in plain text".to_owned()),
            Way::Text => self.checked(Value::String(text.to_owned())),
            Way::Native(_) => self.read_json(text),
            Way::Tool(_) => Err(format!("plain text is not the result; give it by calling `{OUTPUT_TOOL}`")),
        }
    }

    /// Reads the arguments of a call of the output tool, or the text of a native output.
    pub(crate) fn read_json(&self, json: &str) -> Result<Value, String> {
        let value = serde_json::from_str(json).map_err(|error| format!("the result is not JSON: {error}"))?;
        self.shape.schema.check(&value).map_err(|fault| misfit(&fault))?;
        self.checked(self.unwrap(value))
    }

    fn unwrap(&self, value: Value) -> Value {
        match value {
            Value::Object(mut fields) if self.shape.is_wrapped => fields.remove(WRAPPER).unwrap_or_default(),
            other => other,
        }
    }

    fn checked(&self, value: Value) -> Result<Value, String> {
        (self.check)(&value).map_err(|fault| misfit(&fault))?;
        Ok(value)
    }
}

fn misfit(fault: &str) -> String {
    format!("the result does not follow its schema: {fault}")
}
