//! The answers of models that follow rules.

use serde_json::{Value, json};

use super::test::OUTPUT_TOOL;
use crate::message::{ResponsePart, ToolCall};
use crate::model::Request;

/// An answer of a [`FunctionModel`](super::FunctionModel) that follows rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer(Part);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Output(Value),
    Call { tool: String, arguments: Value },
}

impl Answer {
    /// Creates an answer that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Part::Text(text.into()))
    }

    /// Creates an answer that is the output of a worker, in the form that the request asks for: a call of the output tool, JSON
    /// text, or the text itself for a worker that returns text.
    #[must_use]
    pub fn output(value: Value) -> Self {
        Self(Part::Output(value))
    }

    /// Creates an answer that calls a tool.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self(Part::Call { tool: tool.into(), arguments })
    }

    /// Returns the answer as a part of the response to `request`; a call has this id.
    pub(super) fn into_part(self, request: &Request<'_>, id: String) -> ResponsePart {
        let call =
            |tool: String, arguments: &Value| ResponsePart::ToolCall(ToolCall::new(id, tool, arguments.to_string()));
        match self.0 {
            Part::Text(text) => ResponsePart::Text { text },
            Part::Call { tool, arguments } => call(tool, &arguments),
            Part::Output(value) => match request.tools.iter().find(|tool| *tool.name == *OUTPUT_TOOL) {
                Some(tool) => call(OUTPUT_TOOL.to_owned(), &shaped(value, &tool.parameters)),
                None => ResponsePart::Text { text: written(value, text_schema(request)) },
            },
        }
    }
}

/// Returns the schema of the answer's text; without one, the worker returns text.
fn text_schema<'a>(request: &Request<'a>) -> Option<&'a Value> {
    request.output.map(|output| &*output.schema).or(request.hint.prompted_output)
}

fn written(value: Value, schema: Option<&Value>) -> String {
    match (value, schema) {
        (Value::String(text), None) => text,
        (value, None) => value.to_string(),
        (value, Some(schema)) => shaped(value, schema).to_string(),
    }
}

/// Returns an output in the form of its schema: a value that is not an object is the property `result` of one.
fn shaped(value: Value, schema: &Value) -> Value {
    let is_wrapper = schema["properties"].as_object().is_some_and(|fields| fields.keys().eq(["result"]));
    if is_wrapper && value.get("result").is_none() { json!({ "result": value }) } else { value }
}
