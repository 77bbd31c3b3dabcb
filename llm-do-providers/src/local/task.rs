//! What a request asks of the engine.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::chat::{self, Turn};
use super::fault;
use super::grammar::Grammar;
use super::schema;
use crate::error::ProviderError;
use crate::message::{Message, ResponsePart, ToolCall};
use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
use crate::settings::Settings;

/// What the answer's schema is called among the tools' schemas; no tool's name has a space.
const ANSWER: &str = "the answer";

/// A request, made ready for the engine.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) turns: Vec<Turn>,
    pub(super) grammar: Grammar,
    pub(super) settings: Settings,
    tools: Vec<Arc<str>>,
    calls_before: usize,
}

impl Task {
    /// Returns what `request` asks.
    pub(super) fn new(request: &Request<'_>) -> Result<Self, ProviderError> {
        let answering = is_answering(request);
        let tools = if answering { Vec::new() } else { offered(request)? };
        let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
        let request = if forced { request.output(None) } else { *request };
        Ok(Self {
            turns: chat::turns(&request, &tools)?,
            grammar: match grammar(&tools, forced, request.output) {
                Grammar::Text if answering => Grammar::Prose,
                grammar => grammar,
            },
            settings: request.settings.clone(),
            tools: tools.iter().map(|tool| tool.name.clone()).collect(),
            calls_before: request.messages.iter().map(calls).sum(),
        })
    }

    /// Whether a text that begins like `text` may be shown: it is no call.
    pub(super) fn is_shown(&self, text: &str) -> bool {
        match self.grammar {
            Grammar::Text | Grammar::Prose => true,
            Grammar::Json(_) => self.tools.is_empty(),
            Grammar::JsonOrProse(_) => !text.starts_with('{'),
        }
    }

    /// Whether a text that begins like `text` is prose, in which the model would repeat itself.
    pub(super) fn is_prose(&self, text: &str) -> bool {
        !matches!(self.grammar, Grammar::Json(_)) && self.is_shown(text)
    }

    /// Returns the texts before which the answer ends: none if it must become whole JSON.
    pub(super) fn stops(&self) -> &[String] {
        if matches!(self.grammar, Grammar::Json(_)) { &[] } else { &self.settings.stop }
    }

    /// Returns the call that `text` is, if it is one.
    pub(super) fn call(&self, text: &str) -> Option<ToolCall> {
        self.tools.iter().find_map(|name| {
            let arguments = text.strip_prefix(&format!(r#"{{"tool": "{name}", "arguments": "#))?.strip_suffix('}')?;
            let id = format!("call_{}", self.calls_before + 1);
            Some(ToolCall::new(id, name.to_string(), arguments))
        })
    }
}

/// Whether a tool's result is to be answered: told of its tools, the model would make the same call again and again.
fn is_answering(request: &Request<'_>) -> bool {
    request.tool_choice == ToolChoice::Auto && matches!(request.messages.last(), Some(Message::Tool { .. }))
}

/// Returns the tools that may be called.
fn offered<'a>(request: &Request<'a>) -> Result<Vec<&'a ToolSpec>, ProviderError> {
    let tools: Vec<_> = match request.tool_choice {
        ToolChoice::None => return Ok(Vec::new()),
        ToolChoice::Tool(name) => request.tools.iter().filter(|tool| *tool.name == *name).collect(),
        ToolChoice::Required | ToolChoice::Auto => request.tools.iter().collect(),
    };
    if tools.is_empty() && request.tool_choice != ToolChoice::Auto {
        return Err(fault::invalid("a tool must be called that is not offered; offer it or leave the choice"));
    }
    Ok(tools)
}

/// Returns how many calls a message has.
fn calls(message: &Message) -> usize {
    let Message::Assistant { parts } = message else { return 0 };
    parts.iter().filter(|part| matches!(part, ResponsePart::ToolCall(_))).count()
}

fn grammar(tools: &[&ToolSpec], forced: bool, output: Option<&OutputSchema>) -> Grammar {
    match (tools, output) {
        ([], None) => Grammar::Text,
        ([], Some(output)) => Grammar::Json(schema::bounded(&output.schema)),
        (tools, None) if !forced => Grammar::JsonOrProse(one_of(tools, None)),
        (tools, output) => Grammar::Json(one_of(tools, output)),
    }
}

/// Returns the schema of a call of one of `tools`, or of an answer.
fn one_of(tools: &[&ToolSpec], output: Option<&OutputSchema>) -> Value {
    let mut alternatives: Vec<_> = tools.iter().map(|tool| call(&tool.name)).collect();
    alternatives.extend(output.map(|_| json!({ "$ref": format!("#/$defs/{ANSWER}") })));
    let schemas = tools.iter().map(|tool| (&*tool.name, &*tool.parameters));
    let schemas = schemas.chain(output.map(|output| (ANSWER, &*output.schema)));
    let definitions: Map<_, _> = schemas.map(|(name, schema)| (name.to_owned(), moved(name, schema))).collect();
    json!({ "anyOf": alternatives, "$defs": definitions })
}

/// Returns the schema of a call of the tool `name`.
fn call(name: &str) -> Value {
    json!({
        "type": "object",
        "properties": { "tool": { "const": name }, "arguments": { "$ref": format!("#/$defs/{name}") } },
        "required": ["tool", "arguments"],
        "additionalProperties": false,
    })
}

/// Returns a schema as it stands among the definitions.
fn moved(name: &str, schema: &Value) -> Value {
    schema::moved_to(&format!("/$defs/{name}"), &schema::bounded(schema))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::Task;
    use crate::error::ErrorKind;
    use crate::model::{Request, ToolChoice, ToolSpec};
    use crate::settings::Settings;

    fn add() -> ToolSpec {
        let parameters = Arc::new(json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
        ToolSpec { name: "add".into(), description: "Adds.".into(), parameters }
    }

    #[test]
    fn a_call_is_told_from_text() {
        let (settings, tools) = (Settings::default(), [add()]);
        let task = Task::new(&Request::new(&[], &settings).tools(&tools)).expect("the request is sound");
        let call = task.call(r#"{"tool": "add", "arguments": {"a": 1}}"#).expect("it is a call");
        assert_eq!((call.id.as_str(), call.name.as_str(), call.arguments.as_str()), ("call_1", "add", r#"{"a": 1}"#));
        assert_eq!(task.call("I add."), None);
    }

    #[test]
    fn a_tool_that_is_not_offered_cannot_be_forced() {
        let (settings, tools) = (Settings::default(), [add()]);
        let request = Request::new(&[], &settings).tools(&tools).tool_choice(ToolChoice::Tool("subtract"));
        assert_eq!(Task::new(&request).expect_err("it is not offered").kind(), ErrorKind::InvalidRequest);
    }
}
