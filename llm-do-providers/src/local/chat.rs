//! A conversation in the words of a chat template.

mod said;

use std::fmt::Write as _;

use serde_json::{Value, json};

pub(super) use self::said::{Said, said};
use super::dialect::Dialect;
use super::fault;
use super::schema;
use super::template::{Chat, Template};
use super::vocabulary::{Marks, Vocabulary};
use crate::error::ProviderError;
use crate::message::{ToolCall, ToolResult};
use crate::model::{OutputSchema, ToolSpec};

/// What stands in for missing instructions where there is something to add to them.
const INSTRUCTIONS: &str = "You are a helpful AI assistant.";

/// The characters of which one that nobody wrote keeps what was said from being read as a mark: they mean nothing.
const WEDGES: std::ops::RangeInclusive<char> = '\u{10_0000}'..='\u{10_FFFD}';

/// What is to be written down.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) instructions: Option<&'a str>,
    pub(super) said: &'a [Said],
    /// The tools that may be called.
    pub(super) tools: &'a [ToolSpec],
    pub(super) output: Option<&'a OutputSchema>,
    /// Whether the model is to think, where the template lets one choose.
    pub(super) thinking: bool,
}

impl Conversation<'_> {
    /// Returns the tokens of the conversation, and of the beginning of an answer.
    ///
    /// Only what the template writes is read as a mark: who writes `<|im_end|>` in a message ends nothing.
    pub(super) fn encode(
        &self,
        template: &Template,
        dialect: &Dialect,
        vocabulary: &Vocabulary,
    ) -> Result<Vec<u32>, ProviderError> {
        let (messages, tools) = if dialect.calls.is_some() { self.natively() } else { self.in_our_words() };
        let messages = with_instructions(self.instructions(dialect), messages, dialect);
        let wedge = wedge(messages.iter().chain(&tools))?;
        let guarded = |values: Vec<Value>| -> Vec<Value> {
            values.into_iter().map(|value| guarded(value, vocabulary.marks(), wedge)).collect()
        };
        let (messages, tools) = (guarded(messages), guarded(tools));
        let thinking = dialect.thinking.then_some(self.thinking);
        let text = template.render(Chat { messages: &messages, tools: &tools, thinking, answering: true })?;
        let pieces = vocabulary.marks().split(&text);
        vocabulary.prompt(&pieces, wedge)
    }

    /// Returns the instructions with what is to be said of tools and of the answer's shape: none if there is nothing.
    fn instructions(&self, dialect: &Dialect) -> Option<String> {
        let mut added = String::new();
        if dialect.calls.is_none() && !self.tools.is_empty() {
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
        let given = self.instructions.or((!added.is_empty()).then_some(INSTRUCTIONS))?;
        Some(given.to_owned() + &added)
    }

    /// Returns messages and tools as templates know them that know tools.
    fn natively(&self) -> (Vec<Value>, Vec<Value>) {
        let messages = self.said.iter().map(|said| match said {
            Said::User(text) => json!({"role": "user", "content": text}),
            Said::Model { thought, text, calls } => native_answer(thought, text, calls),
            Said::Result(result) => json!({
                "role": "tool", "name": result.name, "tool_call_id": result.call_id, "content": native_result(result),
            }),
        });
        (messages.collect(), self.tools.iter().map(native_tool).collect())
    }

    /// Returns messages as any template knows them; the tools are told of in the instructions.
    fn in_our_words(&self) -> (Vec<Value>, Vec<Value>) {
        let mut messages: Vec<(&str, String)> = Vec::new();
        for said in self.said {
            let (role, text) = match said {
                Said::User(text) => ("user", text.clone()),
                Said::Model { text, calls, .. } => {
                    let calls = calls.iter().map(call_text);
                    let texts: Vec<_> = (!text.is_empty()).then(|| text.clone()).into_iter().chain(calls).collect();
                    ("assistant", texts.join("\n"))
                }
                Said::Result(result) => ("user", result_text(result)),
            };
            // Many templates refuse two messages of one role in a row.
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

/// Returns `messages` after `instructions`, which stand in the first message if the template has no role for them.
fn with_instructions(instructions: Option<String>, mut messages: Vec<Value>, dialect: &Dialect) -> Vec<Value> {
    let Some(instructions) = instructions else { return messages };
    let asked = messages.first_mut().filter(|first| first["role"] == "user");
    if !dialect.instructions
        && let Some(Value::String(text)) = asked.and_then(|first| first.get_mut("content"))
    {
        *text = format!("{instructions}\n\n{text}");
        return messages;
    }
    let role = if dialect.instructions { "system" } else { "user" };
    messages.insert(0, json!({"role": role, "content": instructions}));
    messages
}

fn native_answer(thought: &str, text: &str, calls: &[ToolCall]) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !thought.is_empty() {
        message["reasoning_content"] = thought.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(native_call).collect();
    }
    message
}

/// Returns a call; arguments that are no JSON stand as the text that they are.
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

/// Returns a call as the grammar has it.
fn call_text(call: &ToolCall) -> String {
    format!(r#"{{"tool": "{}", "arguments": {}}}"#, call.name, call.arguments)
}

/// Returns a tool's result for a model that knows no role for it but the user's.
fn result_text(result: &ToolResult) -> String {
    let label = if result.is_error { "Error" } else { "Result" };
    format!("{label} of {}: {}", result.name, result.content)
}

/// Returns a character that stands nowhere in `values`.
fn wedge<'a>(values: impl Iterator<Item = &'a Value>) -> Result<char, ProviderError> {
    let mut texts = Vec::new();
    values.for_each(|value| collect_texts(value, &mut texts));
    let taken: std::collections::BTreeSet<char> =
        texts.iter().flat_map(|text| text.chars()).filter(|letter| WEDGES.contains(letter)).collect();
    let mut free = WEDGES.filter(|letter| !taken.contains(letter));
    free.next().ok_or_else(|| fault::invalid("the conversation has every character for private use; leave one out"))
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

/// Returns `value` with no mark in any of its texts.
fn guarded(value: Value, marks: &Marks, wedge: char) -> Value {
    match value {
        Value::String(text) => marks.break_up(&text, wedge).into(),
        Value::Array(items) => items.into_iter().map(|item| guarded(item, marks, wedge)).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| (marks.break_up(&key, wedge), guarded(value, marks, wedge));
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}
