//! A conversation in the words of `ChatML`.

use std::fmt::Write as _;

use super::fault;
use super::schema;
use super::vocabulary::Vocabulary;
use crate::attachment::Attachment;
use crate::error::ProviderError;
use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};
use crate::model::{Request, ToolSpec};

/// What stands in for missing instructions, much as in the model's training.
const INSTRUCTIONS: &str = "You are a helpful AI assistant named SmolLM.";

/// One message: who says what.
#[derive(Debug, PartialEq)]
pub(super) struct Turn {
    role: &'static str,
    text: String,
}

impl Turn {
    fn new(role: &'static str, text: impl Into<String>) -> Self {
        Self { role, text: text.into() }
    }

    /// Appends the message's tokens to `prompt`.
    fn encode(&self, vocabulary: &Vocabulary, prompt: &mut Vec<u32>) -> Result<(), ProviderError> {
        prompt.push(vocabulary.start());
        prompt.extend(vocabulary.encode(&format!("{}\n{}", self.role, self.text))?);
        prompt.push(vocabulary.end());
        prompt.extend(vocabulary.encode("\n")?);
        Ok(())
    }
}

/// A prompt's tokens; the first `instructions` of them are the same for all conversations of one worker.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) tokens: Vec<u32>,
    pub(super) instructions: usize,
}

/// Returns the tokens of `turns`, and of the beginning of an answer.
pub(super) fn encode(turns: &[Turn], vocabulary: &Vocabulary) -> Result<Prompt, ProviderError> {
    let mut tokens = Vec::new();
    let mut instructions = 0;
    for (place, turn) in turns.iter().enumerate() {
        turn.encode(vocabulary, &mut tokens)?;
        if place == 0 {
            instructions = tokens.len();
        }
    }
    tokens.push(vocabulary.start());
    tokens.extend(vocabulary.encode("assistant\n")?);
    Ok(Prompt { tokens, instructions })
}

/// Returns the request as turns; `tools` are those that may be called.
///
/// # Errors
///
/// Returns an error if a file is attached that is no text.
pub(super) fn turns(request: &Request<'_>, tools: &[&ToolSpec]) -> Result<Vec<Turn>, ProviderError> {
    let mut turns = vec![Turn::new("system", instructions(request, tools))];
    for message in request.messages {
        match message {
            Message::User { parts } => turns.push(Turn::new("user", user_text(parts)?)),
            Message::Assistant { parts } => turns.push(Turn::new("assistant", assistant_text(parts))),
            Message::Tool { results } => {
                for result in results {
                    turns.push(result_turn(result)?);
                }
            }
        }
    }
    Ok(turns)
}

/// Returns the instructions with what is to be said of tools and of the answer's shape.
fn instructions(request: &Request<'_>, tools: &[&ToolSpec]) -> String {
    let mut text = request.instructions.unwrap_or(INSTRUCTIONS).to_owned();
    if !tools.is_empty() {
        text.push_str("\n\nTools:");
        for tool in tools {
            let arguments = schema::sketch(&tool.parameters);
            let _ = write!(text, "\n{}: {} Arguments: {arguments}", tool.name, tool.description);
        }
        text.push_str("\nTo use a tool, answer with one JSON object and nothing else:\n");
        text.push_str(r#"{"tool": <name>, "arguments": <arguments>}"#);
    }
    if let Some(output) = request.output {
        let _ = write!(text, "\n\nAnswer with JSON: {}", schema::sketch(&output.schema));
    }
    text
}

/// Returns the parts of a user's message, each on a line of its own.
fn user_text(parts: &[UserPart]) -> Result<String, ProviderError> {
    let texts = parts.iter().map(|part| match part {
        UserPart::Text { text } => Ok(text.clone()),
        UserPart::Attachment(attachment) => file_text(attachment),
    });
    Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
}

/// Returns a file as text, which is all that the model reads.
fn file_text(attachment: &Attachment) -> Result<String, ProviderError> {
    if !attachment.is_text() {
        let file = attachment.described();
        let text = format!("the embedded model reads only text, not {file}; attach text or ask another model");
        return Err(fault::invalid(text));
    }
    attachment.inlined().map_err(fault::invalid)
}

/// Returns what the model said, as it would say it again: its calls as JSON, its thoughts not at all.
fn assistant_text(parts: &[ResponsePart]) -> String {
    let texts: Vec<String> = parts
        .iter()
        .filter_map(|part| match part {
            ResponsePart::Text { text } => Some(text.clone()),
            ResponsePart::ToolCall(call) => Some(call_text(call)),
            ResponsePart::Thinking(_)
            | ResponsePart::ServerSideTool(_)
            | ResponsePart::Attachment(_)
            | ResponsePart::Opaque(_) => None,
        })
        .collect();
    texts.join("\n")
}

/// Returns a call as the grammar has it.
fn call_text(call: &ToolCall) -> String {
    format!(r#"{{"tool": "{}", "arguments": {}}}"#, call.name, call.arguments)
}

/// Returns a tool's result; the model knows no role for it but the user's.
fn result_turn(result: &ToolResult) -> Result<Turn, ProviderError> {
    let label = if result.is_error { "Error" } else { "Result" };
    let mut text = format!("{label} of {}: {}", result.name, result.content);
    for attachment in &result.attachments {
        text.push('\n');
        text.push_str(&file_text(attachment)?);
    }
    Ok(Turn::new("user", text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::{Turn, turns};
    use crate::attachment::Attachment;
    use crate::error::ErrorKind;
    use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};
    use crate::model::{Request, ToolSpec};
    use crate::settings::Settings;

    #[test]
    fn a_call_and_its_result_are_told_in_the_words_of_the_grammar() {
        let call = ToolCall::new("1", "add", r#"{"a":1}"#);
        let result = ToolResult::new(&call, "3");
        let messages = [
            Message::user("Add."),
            Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] },
            Message::Tool { results: vec![result] },
        ];
        let settings = Settings::default();
        let turns =
            turns(&Request::new(&messages, &settings).instructions(Some("Be brief.")), &[]).expect("all is text");
        let expected = [
            Turn::new("system", "Be brief."),
            Turn::new("user", "Add."),
            Turn::new("assistant", r#"{"tool": "add", "arguments": {"a":1}}"#),
            Turn::new("user", "Result of add: 3"),
        ];
        assert_eq!(turns, expected);
    }

    #[test]
    fn a_tool_takes_one_line() {
        let tool = ToolSpec {
            name: "add".into(),
            description: "Adds two numbers.".into(),
            parameters: Arc::new(json!({"type": "object", "properties": {"a": {"type": "integer"}}})),
        };
        let settings = Settings::default();
        let turns = turns(&Request::new(&[], &settings), &[&tool]).expect("all is text");
        assert!(turns[0].text.contains("\nadd: Adds two numbers. Arguments: {\"a\": integer}\n"), "{}", turns[0].text);
    }

    #[test]
    fn a_file_of_text_stands_among_the_text() {
        let note = Attachment::new("text/plain", "Milk.").named("list.txt");
        let call = ToolCall::new("1", "read", "{}");
        let result = ToolResult::new(&call, "done").with_attachments([Attachment::new("application/json", "[1]")]);
        let messages = [
            Message::User { parts: vec![UserPart::Text { text: "Sum up.".into() }, UserPart::Attachment(note)] },
            Message::Tool { results: vec![result] },
        ];
        let settings = Settings::default();
        let turns = turns(&Request::new(&messages, &settings), &[]).expect("all is text");
        let expected = [
            Turn::new("user", "Sum up.\nFile `list.txt`:\nMilk."),
            Turn::new("user", "Result of read: done\nFile of type `application/json`:\n[1]"),
        ];
        assert_eq!(turns[1..], expected);
    }

    #[test]
    fn a_file_of_another_type_is_refused_by_name() {
        let image = Attachment::new("image/png", "secret").named("a.png");
        let call = ToolCall::new("1", "draw", "{}");
        let result = ToolResult::new(&call, "done").with_attachments([image.clone()]);
        let settings = Settings::default();
        for message in
            [Message::User { parts: vec![UserPart::Attachment(image)] }, Message::Tool { results: vec![result] }]
        {
            let error = turns(&Request::new(&[message], &settings), &[]).expect_err("it is no text");
            assert_eq!(error.kind(), ErrorKind::InvalidRequest);
            assert!(error.to_string().contains("`a.png` of type `image/png`; attach text"), "{error}");
        }
    }
}
