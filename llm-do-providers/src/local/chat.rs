//! Renders a conversation as the tokens of a prompt.

mod message;

use std::fmt::Write as _;

use serde_json::{Value, json};

pub(super) use self::message::{TemplateMessage, convert};
use super::capabilities::TemplateCapabilities;
use super::fault;
use super::schema;
use super::template::{RenderInput, Template};
use super::vocabulary::{SpecialTokens, Vocabulary};
use crate::error::ProviderError;
use crate::message::{ToolCall, ToolResult};
use crate::model::{OutputSchema, ToolSpec};

/// The instructions if the request has none and tools or a schema have to be described.
const DEFAULT_INSTRUCTIONS: &str = "You are a helpful AI assistant.";

/// Private-use characters. One that the conversation does not contain is inserted into special tokens that a message
/// spells, so that they are encoded as text. It is removed before encoding.
const ESCAPE_CHARS: std::ops::RangeInclusive<char> = '\u{10_0000}'..='\u{10_FFFD}';

/// A conversation to render.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) instructions: Option<&'a str>,
    pub(super) messages: &'a [TemplateMessage],
    /// The tools the model may call.
    pub(super) tools: &'a [ToolSpec],
    pub(super) output: Option<&'a OutputSchema>,
    /// Whether thinking is enabled, for templates with that switch.
    pub(super) thinking: bool,
}

impl Conversation<'_> {
    /// Returns the tokens of the conversation and of the start of the answer.
    ///
    /// Only the template can write special tokens: `<|im_end|>` in a message is encoded as text.
    pub(super) fn encode(
        &self,
        template: &Template,
        capabilities: &TemplateCapabilities,
        vocabulary: &Vocabulary,
    ) -> Result<Vec<u32>, ProviderError> {
        let (messages, tools) =
            if capabilities.tool_calls.is_some() { self.native_messages() } else { self.plain_messages() };
        let messages = with_instructions(self.instructions(capabilities), messages, capabilities);
        let escape_char = escape_char(messages.iter().chain(&tools))?;
        let escaped = |values: Vec<Value>| -> Vec<Value> {
            values.into_iter().map(|value| escaped(value, vocabulary.special_tokens(), escape_char)).collect()
        };
        let (messages, tools) = (escaped(messages), escaped(tools));
        let thinking = capabilities.thinking_switch.then_some(self.thinking);
        let text = template.render(RenderInput {
            messages: &messages,
            tools: &tools,
            thinking,
            add_generation_prompt: true,
        })?;
        let parts = vocabulary.special_tokens().split(&text);
        vocabulary.encode_prompt(&parts, escape_char)
    }

    /// Returns the instructions, followed by descriptions of the tools and of the output schema where needed.
    fn instructions(&self, capabilities: &TemplateCapabilities) -> Option<String> {
        let mut added = String::new();
        if capabilities.tool_calls.is_none() && !self.tools.is_empty() {
            added.push_str("\n\nTools:");
            for tool in self.tools {
                let arguments = schema::sketch(&tool.parameters);
                let _ = write!(added, "\n{}: {} Arguments: {arguments}", tool.name, tool.description);
            }
            added.push_str("\nTo use a tool, answer with one JSON object and nothing else:\n");
            added.push_str(r#"{"tool": <name>, "arguments": <arguments>}"#);
        }
        if let Some(output) = self.output {
            let _ = write!(added, "\n\nAnswer with JSON: {}", schema::sketch(&output.schema));
        }
        let given = self.instructions.or((!added.is_empty()).then_some(DEFAULT_INSTRUCTIONS))?;
        Some(given.to_owned() + &added)
    }

    /// Returns messages and tools for a template that supports tools.
    fn native_messages(&self) -> (Vec<Value>, Vec<Value>) {
        let messages = self.messages.iter().map(|message| match message {
            TemplateMessage::User(text) => json!({"role": "user", "content": text}),
            TemplateMessage::Assistant { thinking, text, calls } => native_assistant_message(thinking, text, calls),
            TemplateMessage::ToolResult(result) => json!({
                "role": "tool", "name": result.name, "tool_call_id": result.call_id, "content": native_result(result),
            }),
        });
        (messages.collect(), self.tools.iter().map(native_tool).collect())
    }

    /// Returns messages with user and assistant roles only; the instructions describe the tools.
    fn plain_messages(&self) -> (Vec<Value>, Vec<Value>) {
        let mut messages: Vec<(&str, String)> = Vec::new();
        for message in self.messages {
            let (role, text) = match message {
                TemplateMessage::User(text) => ("user", text.clone()),
                TemplateMessage::Assistant { text, calls, .. } => {
                    let calls = calls.iter().map(call_text);
                    let texts: Vec<_> = (!text.is_empty()).then(|| text.clone()).into_iter().chain(calls).collect();
                    ("assistant", texts.join("\n"))
                }
                TemplateMessage::ToolResult(result) => ("user", result_text(result)),
            };
            // Many templates reject two consecutive messages of the same role.
            match messages.last_mut().filter(|(last, _)| *last == role) {
                Some((_, last)) => {
                    last.push('\n');
                    last.push_str(&text);
                }
                None => messages.push((role, text)),
            }
        }
        (messages.into_iter().map(|(role, text)| json!({"role": role, "content": text})).collect(), Vec::new())
    }
}

/// Prepends `instructions` to `messages`: as a system message, or in the first user message if the template has no
/// system role.
fn with_instructions(
    instructions: Option<String>,
    mut messages: Vec<Value>,
    capabilities: &TemplateCapabilities,
) -> Vec<Value> {
    let Some(instructions) = instructions else { return messages };
    let first_user = messages.first_mut().filter(|first| first["role"] == "user");
    if !capabilities.system_role
        && let Some(Value::String(text)) = first_user.and_then(|first| first.get_mut("content"))
    {
        *text = format!("{instructions}\n\n{text}");
        return messages;
    }
    let role = if capabilities.system_role { "system" } else { "user" };
    messages.insert(0, json!({"role": role, "content": instructions}));
    messages
}

fn native_assistant_message(thinking: &str, text: &str, calls: &[ToolCall]) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        message["reasoning_content"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(native_call).collect();
    }
    message
}

/// Returns a tool call. Arguments that are invalid JSON become a string.
fn native_call(call: &ToolCall) -> Value {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| call.arguments.clone().into());
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

fn native_result(result: &ToolResult) -> String {
    if result.is_error { format!("Error: {}", result.content) } else { result.content.clone() }
}

fn native_tool(tool: &ToolSpec) -> Value {
    let parameters = &*tool.parameters;
    json!({
        "type": "function",
        "function": {"name": &*tool.name, "description": &*tool.description, "parameters": parameters},
    })
}

/// Returns a call in the fallback format.
fn call_text(call: &ToolCall) -> String {
    format!(r#"{{"tool": "{}", "arguments": {}}}"#, call.name, call.arguments)
}

/// Returns a tool result as a user message, for templates without a tool role.
fn result_text(result: &ToolResult) -> String {
    let label = if result.is_error { "Error" } else { "Result" };
    format!("{label} of {}: {}", result.name, result.content)
}

/// Returns a private-use character that `values` do not contain.
fn escape_char<'a>(values: impl Iterator<Item = &'a Value>) -> Result<char, ProviderError> {
    let mut texts = Vec::new();
    values.for_each(|value| collect_texts(value, &mut texts));
    let used: std::collections::BTreeSet<char> =
        texts.iter().flat_map(|text| text.chars()).filter(|c| ESCAPE_CHARS.contains(c)).collect();
    let mut free = ESCAPE_CHARS.filter(|c| !used.contains(c));
    free.next().ok_or_else(|| {
        fault::invalid("the conversation contains all private-use characters of Unicode plane 16; remove at least one")
    })
}

fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => {
            for (key, value) in fields {
                texts.push(key);
                collect_texts(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns `value` with the special tokens in its strings escaped.
fn escaped(value: Value, special_tokens: &SpecialTokens, escape_char: char) -> Value {
    match value {
        Value::String(text) => special_tokens.escape(&text, escape_char).into(),
        Value::Array(items) => items.into_iter().map(|item| escaped(item, special_tokens, escape_char)).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| {
                (special_tokens.escape(&key, escape_char), escaped(value, special_tokens, escape_char))
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}
