//! The form of old messages for the worker that summarizes them.

use llm_do_providers::{Message, ResponsePart, ToolResult, UserPart};
use serde_json::{Value, json};

use crate::plane::history::is_summary;

/// The maximum number of characters of one text in the prompt for the summary.
const MAX_TEXT: usize = 4_000;

/// Returns the messages as lines, one JSON value each.
pub(super) fn text_of(messages: &[Message]) -> String {
    messages.iter().flat_map(lines).map(|line| line.to_string()).collect::<Vec<_>>().join("\n")
}

/// Returns the form of a message for the worker; thinking is left out.
fn lines(message: &Message) -> Vec<Value> {
    match message {
        Message::User { parts } if is_summary(message) => parts.iter().filter_map(whole_line).collect(),
        Message::User { parts } => parts.iter().filter_map(user_line).collect(),
        Message::Assistant { parts } => parts.iter().filter_map(response_line).collect(),
        Message::Tool { results } => results.iter().map(result_line).collect(),
        _ => Vec::new(),
    }
}

fn user_line(part: &UserPart) -> Option<Value> {
    match part {
        UserPart::Text { text } => Some(json!({ "user": cut_text(text) })),
        UserPart::Attachment(file) => Some(json!({ "user_file": file.name().unwrap_or_else(|| file.media_type()) })),
        _ => None,
    }
}

/// Returns earlier notes as they are, since what they lose is lost.
fn whole_line(part: &UserPart) -> Option<Value> {
    match part {
        UserPart::Text { text } => Some(json!({ "user": text })),
        _ => None,
    }
}

fn response_line(part: &ResponsePart) -> Option<Value> {
    Some(match part {
        ResponsePart::Text { text } => json!({ "assistant": cut_text(text) }),
        ResponsePart::ToolCall(call) => json!({ "call": call.name, "arguments": cut_text(&call.arguments) }),
        ResponsePart::ServerSideTool(used) => {
            json!({ "call": used.name, "arguments": cut_text(&used.input.to_string()) })
        }
        ResponsePart::Attachment(file) => json!({ "assistant_file": file.name().unwrap_or_else(|| file.media_type()) }),
        _ => return None,
    })
}

fn result_line(result: &ToolResult) -> Value {
    let key = if result.is_error { "error" } else { "result" };
    json!({ key: cut_text(&result.content), "of": result.name })
}

fn cut_text(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{} … ({} more bytes)", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}
