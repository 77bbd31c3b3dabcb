//! Requests, prepared for the engine.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Deserializer, Map, Value, json};

use super::capabilities::{TemplateCapabilities, ToolCallFormat};
use super::chat::{Conversation, TemplateMessage, convert};
use super::fault;
use super::grammar::{AnswerForm, Grammar};
use super::schema;
use crate::error::ProviderError;
use crate::message::{Message, ResponsePart, ToolCall};
use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
use crate::settings::{Settings, ThinkingLevel};

/// A request, independent of the model that answers it.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) settings: Settings,
    instructions: Option<String>,
    messages: Vec<TemplateMessage>,
    tools: Vec<ToolSpec>,
    output: Option<OutputSchema>,
    forced: bool,
    one_call: bool,
    answers_tool_result: bool,
    calls_before: usize,
}

/// A task with the prompt and the grammar for a certain chat template.
#[derive(Debug)]
pub(super) struct Plan<'t> {
    pub(super) conversation: Conversation<'t>,
    pub(super) grammar: Grammar,
    settings: &'t Settings,
    calls_before: usize,
}

impl Task {
    /// Converts `request`.
    pub(super) fn new(request: &Request<'_>) -> Result<Self, ProviderError> {
        let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
        Ok(Self {
            settings: request.settings.clone(),
            instructions: request.instructions.map(str::to_owned),
            messages: convert(request.messages)?,
            tools: callable_tools(request)?,
            output: request.output.filter(|_| !forced).cloned(),
            forced,
            one_call: matches!(request.tool_choice, ToolChoice::Tool(_))
                || request.settings.parallel_tool_calls == Some(false),
            answers_tool_result: request.tool_choice == ToolChoice::Auto
                && matches!(request.messages.last(), Some(Message::Tool { .. })),
            calls_before: request.messages.iter().map(count_calls).sum(),
        })
    }

    /// Returns whether the model may call tools.
    pub(super) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// Returns the plan for a template with `capabilities`.
    ///
    /// Models that were not trained to call tools repeat the same call forever, so without native tool support the
    /// model has to answer a tool result.
    pub(super) fn plan(&self, capabilities: &TemplateCapabilities) -> Plan<'_> {
        let must_answer = self.answers_tool_result && capabilities.tool_calls.is_none();
        let tools = if must_answer { &[] } else { self.tools.as_slice() };
        let mut format = capabilities.tool_calls.clone().unwrap_or_else(ToolCallFormat::fallback);
        format.separator = format.separator.filter(|_| !self.one_call);
        let answer = match &self.output {
            _ if self.forced => AnswerForm::CallOnly,
            Some(output) => AnswerForm::Json(schema::bounded(&output.schema)),
            None if must_answer || !tools.is_empty() => AnswerForm::Prose,
            None => AnswerForm::AnyText,
        };
        let calls = (!tools.is_empty()).then(|| (calls_schema(tools, &format), format));
        Plan {
            conversation: Conversation {
                instructions: self.instructions.as_deref(),
                messages: &self.messages,
                tools,
                output: self.output.as_ref(),
                thinking: self.settings.thinking.is_some_and(|level| level != ThinkingLevel::Off),
            },
            grammar: Grammar { calls, answer },
            settings: &self.settings,
            calls_before: self.calls_before,
        }
    }
}

impl Plan<'_> {
    /// Returns whether an answer that starts with `text` may be streamed, because it is not a tool call.
    pub(super) fn is_streamed(&self, text: &str) -> bool {
        match &self.grammar {
            Grammar { calls: None, .. } => true,
            Grammar { answer: AnswerForm::Prose, .. } => !text.starts_with(|first| self.grammar.begins_call(first)),
            Grammar { .. } => false,
        }
    }

    /// Returns whether an answer that starts with `text` is prose, which needs the repetition penalty.
    pub(super) fn is_prose(&self, text: &str) -> bool {
        matches!(self.grammar.answer, AnswerForm::AnyText | AnswerForm::Prose) && self.is_streamed(text)
    }

    /// Returns the stop sequences; empty if the answer must be complete JSON.
    pub(super) fn stops(&self) -> &[String] {
        if matches!(self.grammar.answer, AnswerForm::AnyText | AnswerForm::Prose) { &self.settings.stop } else { &[] }
    }

    /// Returns the tool calls in `text`.
    pub(super) fn calls(&self, text: &str) -> Vec<ToolCall> {
        let Some((_, format)) = self.grammar.calls.as_ref().filter(|_| !self.is_streamed(text)) else {
            return Vec::new();
        };
        let (mut calls, mut rest) = (Vec::new(), text);
        while let Some((call, length)) =
            rest.find('{').and_then(|start| self.first_call(format, rest, start, calls.len()))
        {
            calls.push(call);
            rest = &rest[length..];
        }
        calls
    }

    /// Returns the call at `start` of `text`, after the first `previous` calls, and its end.
    fn first_call(
        &self,
        format: &ToolCallFormat,
        text: &str,
        start: usize,
        previous: usize,
    ) -> Option<(ToolCall, usize)> {
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<HashMap<String, &RawValue>>();
        let fields = values.next()?.ok()?;
        let name: String = serde_json::from_str(fields.get(&format.name_key)?.get()).ok()?;
        let arguments = fields.get(&format.arguments_key)?.get();
        let id = format!("call_{}", self.calls_before + previous + 1);
        let is_offered = self.conversation.tools.iter().any(|tool| *tool.name == *name);
        is_offered.then(|| (ToolCall::new(id, name, arguments), start + values.byte_offset()))
    }
}

/// Returns the tools that the model may call.
fn callable_tools(request: &Request<'_>) -> Result<Vec<ToolSpec>, ProviderError> {
    let tools: Vec<_> = match request.tool_choice {
        ToolChoice::None => return Ok(Vec::new()),
        ToolChoice::Tool(name) => request.tools.iter().filter(|tool| *tool.name == *name).cloned().collect(),
        ToolChoice::Required | ToolChoice::Auto => request.tools.to_vec(),
    };
    if tools.is_empty() && request.tool_choice != ToolChoice::Auto {
        return Err(fault::invalid(
            "the tool choice requires a tool call, but the request does not offer that tool; add it to the tools or use `ToolChoice::Auto`",
        ));
    }
    Ok(tools)
}

/// Returns the number of tool calls in a message.
fn count_calls(message: &Message) -> usize {
    let Message::Assistant { parts } = message else { return 0 };
    parts.iter().filter(|part| matches!(part, ResponsePart::ToolCall(_))).count()
}

/// Returns the schema of a call of any of `tools`.
fn calls_schema(tools: &[ToolSpec], format: &ToolCallFormat) -> Value {
    let alternatives: Vec<_> = tools.iter().map(|tool| call_schema(&tool.name, format)).collect();
    let definition = |tool: &ToolSpec| {
        let pointer = format!("/$defs/{}", tool.name);
        (tool.name.to_string(), schema::rebase_references(&pointer, &schema::bounded(&tool.parameters)))
    };
    let definitions: Map<_, _> = tools.iter().map(definition).collect();
    json!({ "anyOf": alternatives, "$defs": definitions })
}

/// Returns the schema of a call of the tool `name`.
fn call_schema(name: &str, format: &ToolCallFormat) -> Value {
    let ToolCallFormat { name_key, arguments_key, .. } = format;
    let reference = format!("#/$defs/{name}");
    json!({
        "type": "object",
        "properties": { name_key.as_str(): { "const": name }, arguments_key.as_str(): { "$ref": reference } },
        "required": [name_key, arguments_key],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::Task;
    use crate::error::ErrorKind;
    use crate::local::capabilities::{TemplateCapabilities, ToolCallFormat};
    use crate::message::ToolCall;
    use crate::model::{Request, ToolChoice, ToolSpec};
    use crate::settings::Settings;

    fn add() -> ToolSpec {
        let parameters = Arc::new(json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
        ToolSpec { name: "add".into(), description: "Adds.".into(), parameters }
    }

    #[test]
    fn a_call_is_distinguished_from_text() {
        let (settings, tools) = (Settings::default(), [add()]);
        let task = Task::new(&Request::new(&[], &settings).tools(&tools)).expect("the request is valid");
        let plan = task.plan(&TemplateCapabilities { system_role: true, thinking_switch: false, tool_calls: None });
        let calls = plan.calls(r#"{"tool": "add", "arguments": {"a": 1}}"#);
        assert_eq!(calls, [ToolCall::new("call_1", "add", r#"{"a": 1}"#)]);
        assert_eq!(plan.calls("I add."), []);
    }

    #[test]
    fn a_call_is_parsed_in_the_format_of_the_model() {
        let (settings, tools) = (Settings::default(), [add()]);
        let task = Task::new(&Request::new(&[], &settings).tools(&tools)).expect("the request is valid");
        let format = ToolCallFormat {
            prefix: "<tool_call>\n".into(),
            name_key: "name".into(),
            arguments_key: "parameters".into(),
            suffix: "\n</tool_call>".into(),
            separator: Some("\n".into()),
        };
        let plan =
            task.plan(&TemplateCapabilities { system_role: true, thinking_switch: false, tool_calls: Some(format) });
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
