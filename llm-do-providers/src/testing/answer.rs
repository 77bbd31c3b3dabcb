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

    /// Creates an answer that is the output of a worker with a schema, in the form that the request asks for.
    #[must_use]
    pub fn output(value: Value) -> Self {
        Self(Part::Output(value))
    }

    /// Creates an answer that calls a tool.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self(Part::Call { tool: tool.into(), arguments })
    }

    /// Returns the answer as a part of the response to `request`.
    pub(super) fn into_part(self, request: &Request<'_>) -> ResponsePart {
        let call = |tool: String, arguments: &Value| {
            let id = format!("call_{}", request.messages.len());
            ResponsePart::ToolCall(ToolCall::new(id, tool, arguments.to_string()))
        };
        match self.0 {
            Part::Text(text) => ResponsePart::Text { text },
            Part::Call { tool, arguments } => call(tool, &arguments),
            Part::Output(value) => match request.tools.iter().find(|tool| *tool.name == *OUTPUT_TOOL) {
                Some(tool) => call(OUTPUT_TOOL.to_owned(), &shaped(value, &tool.parameters)),
                None => ResponsePart::Text { text: shaped(value, text_schema(request)).to_string() },
            },
        }
    }
}

/// Returns the schema of the answer's text.
fn text_schema<'a>(request: &Request<'a>) -> &'a Value {
    let prompted = || request.hint.prompted_output.unwrap_or(&Value::Null);
    request.output.map_or_else(prompted, |output| &output.schema)
}

/// Returns an output in the form of its schema: the runtime asks for a value that is not an object as `result` of one.
fn shaped(value: Value, schema: &Value) -> Value {
    let is_wrapper = schema["properties"].as_object().is_some_and(|fields| fields.keys().eq(["result"]));
    if is_wrapper && value.get("result").is_none() { json!({ "result": value }) } else { value }
}
