//! What a request asks of the engine.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Deserializer, Map, Value, json};

use super::chat::{Conversation, Said, said};
use super::dialect::{CallForm, Dialect};
use super::fault;
use super::grammar::{Grammar, Rest};
use super::schema;
use crate::error::ProviderError;
use crate::message::{Message, ResponsePart, ToolCall};
use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
use crate::settings::{Settings, ThinkingLevel};

/// A request, made ready for any engine.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) settings: Settings,
    instructions: Option<String>,
    said: Vec<Said>,
    tools: Vec<ToolSpec>,
    output: Option<OutputSchema>,
    forced: bool,
    one_call: bool,
    answering: bool,
    calls_before: usize,
}

/// What a task is for a model of a certain dialect.
#[derive(Debug)]
pub(super) struct Plan<'t> {
    pub(super) conversation: Conversation<'t>,
    pub(super) grammar: Grammar,
    settings: &'t Settings,
    calls_before: usize,
}

impl Task {
    /// Returns what `request` asks.
    pub(super) fn new(request: &Request<'_>) -> Result<Self, ProviderError> {
        let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
        Ok(Self {
            settings: request.settings.clone(),
            instructions: request.instructions.map(str::to_owned),
            said: said(request.messages)?,
            tools: offered(request)?,
            output: request.output.filter(|_| !forced).cloned(),
            forced,
            one_call: matches!(request.tool_choice, ToolChoice::Tool(_))
                || request.settings.parallel_tool_calls == Some(false),
            answering: request.tool_choice == ToolChoice::Auto
                && matches!(request.messages.last(), Some(Message::Tool { .. })),
            calls_before: request.messages.iter().map(calls).sum(),
        })
    }

    /// Whether there are tools that may be called.
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Returns what that is for a model that speaks `dialect`.
    ///
    /// Models that were not trained to call tools would, told of them, make the same call again and again: they answer a
    /// result.
    pub(super) fn plan(&self, dialect: &Dialect) -> Plan<'_> {
        let must_answer = self.answering && dialect.calls.is_none();
        let tools = if must_answer { &[] } else { self.tools.as_slice() };
        let mut form = dialect.calls.clone().unwrap_or_else(CallForm::ours);
        form.between = form.between.filter(|_| !self.one_call);
        let rest = match &self.output {
            _ if self.forced => Rest::Nothing,
            Some(output) => Rest::Json(schema::bounded(&output.schema)),
            None if must_answer || !tools.is_empty() => Rest::Prose,
            None => Rest::Anything,
        };
        let calls = (!tools.is_empty()).then(|| (one_of(tools, &form), form));
        Plan {
            conversation: Conversation {
                instructions: self.instructions.as_deref(),
                said: &self.said,
                tools,
                output: self.output.as_ref(),
                thinking: self.settings.thinking.is_some_and(|level| level != ThinkingLevel::Off),
            },
            grammar: Grammar { calls, rest },
            settings: &self.settings,
            calls_before: self.calls_before,
        }
    }
}

impl Plan<'_> {
    /// Whether a text that begins like `text` may be shown: it is no call.
    pub(super) fn is_shown(&self, text: &str) -> bool {
        match &self.grammar {
            Grammar { calls: None, .. } => true,
            Grammar { rest: Rest::Prose, .. } => !text.starts_with(|first| self.grammar.begins_call(first)),
            Grammar { .. } => false,
        }
    }

    /// Whether a text that begins like `text` is prose, in which a small model would repeat itself.
    pub(super) fn is_prose(&self, text: &str) -> bool {
        matches!(self.grammar.rest, Rest::Anything | Rest::Prose) && self.is_shown(text)
    }

    /// Returns the texts before which the answer ends: none if it must become whole JSON.
    pub(super) fn stops(&self) -> &[String] {
        if matches!(self.grammar.rest, Rest::Anything | Rest::Prose) { &self.settings.stop } else { &[] }
    }

    /// Returns the calls that `text` is: none if it is none.
    pub(super) fn calls(&self, text: &str) -> Vec<ToolCall> {
        let Some((_, form)) = self.grammar.calls.as_ref().filter(|_| !self.is_shown(text)) else { return Vec::new() };
        let (mut calls, mut rest) = (Vec::new(), text);
        while let Some((call, length)) =
            rest.find('{').and_then(|start| self.first_call(form, rest, start, calls.len()))
        {
            calls.push(call);
            rest = &rest[length..];
        }
        calls
    }

    /// Returns the call at `start` of `text`, after so many others, and where it ends.
    fn first_call(&self, form: &CallForm, text: &str, start: usize, others: usize) -> Option<(ToolCall, usize)> {
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<HashMap<String, &RawValue>>();
        let fields = values.next()?.ok()?;
        let name: String = serde_json::from_str(fields.get(&form.name)?.get()).ok()?;
        let arguments = fields.get(&form.arguments)?.get();
        let id = format!("call_{}", self.calls_before + others + 1);
        let is_offered = self.conversation.tools.iter().any(|tool| *tool.name == *name);
        is_offered.then(|| (ToolCall::new(id, name, arguments), start + values.byte_offset()))
    }
}

/// Returns the tools that may be called.
fn offered(request: &Request<'_>) -> Result<Vec<ToolSpec>, ProviderError> {
    let tools: Vec<_> = match request.tool_choice {
        ToolChoice::None => return Ok(Vec::new()),
        ToolChoice::Tool(name) => request.tools.iter().filter(|tool| *tool.name == *name).cloned().collect(),
        ToolChoice::Required | ToolChoice::Auto => request.tools.to_vec(),
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

/// Returns the schema of a call of one of `tools`.
fn one_of(tools: &[ToolSpec], form: &CallForm) -> Value {
    let alternatives: Vec<_> = tools.iter().map(|tool| call(&tool.name, form)).collect();
    let moved = |tool: &ToolSpec| {
        let place = format!("/$defs/{}", tool.name);
        (tool.name.to_string(), schema::moved_to(&place, &schema::bounded(&tool.parameters)))
    };
    let definitions: Map<_, _> = tools.iter().map(moved).collect();
    json!({ "anyOf": alternatives, "$defs": definitions })
}

/// Returns the schema of a call of the tool `name`.
fn call(name: &str, form: &CallForm) -> Value {
    let CallForm { name: named, arguments, .. } = form;
    let reference = format!("#/$defs/{name}");
    json!({
        "type": "object",
        "properties": { named.as_str(): { "const": name }, arguments.as_str(): { "$ref": reference } },
        "required": [named, arguments],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::Task;
    use crate::error::ErrorKind;
    use crate::local::dialect::{CallForm, Dialect};
    use crate::message::ToolCall;
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
        let plan = task.plan(&Dialect { instructions: true, thinking: false, calls: None });
        let calls = plan.calls(r#"{"tool": "add", "arguments": {"a": 1}}"#);
        assert_eq!(calls, [ToolCall::new("call_1", "add", r#"{"a": 1}"#)]);
        assert_eq!(plan.calls("I add."), []);
    }

    #[test]
    fn a_call_is_read_in_the_form_of_the_model() {
        let (settings, tools) = (Settings::default(), [add()]);
        let task = Task::new(&Request::new(&[], &settings).tools(&tools)).expect("the request is sound");
        let form = CallForm {
            before: "<tool_call>\n".into(),
            name: "name".into(),
            arguments: "parameters".into(),
            after: "\n</tool_call>".into(),
            between: Some("\n".into()),
        };
        let plan = task.plan(&Dialect { instructions: true, thinking: false, calls: Some(form) });
        let text = "<tool_call>\n{\"name\": \"add\", \"parameters\": {\"a\": 1}}\n</tool_call>";
        let calls = plan.calls(&format!("{text}\n{}", text.replace('1', "2")));
        let expected = [ToolCall::new("call_1", "add", r#"{"a": 1}"#), ToolCall::new("call_2", "add", r#"{"a": 2}"#)];
        assert_eq!(calls, expected);
        assert_eq!(plan.calls("\n{\"name\": \"subtract\", \"parameters\": {}}"), []);
    }

    #[test]
    fn a_tool_that_is_not_offered_cannot_be_forced() {
        let (settings, tools) = (Settings::default(), [add()]);
        let request = Request::new(&[], &settings).tools(&tools).tool_choice(ToolChoice::Tool("subtract"));
        assert_eq!(Task::new(&request).expect_err("it is not offered").kind(), ErrorKind::InvalidRequest);
    }
}
