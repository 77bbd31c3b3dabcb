//! Messages in the JSON format of OpenTelemetry's conventions.

use llm_do_providers::{ResponsePart, ToolSpec};
use serde_json::{Value, json};

use crate::observe::event::{ContentMessage, ContentResult, EventPart};

/// Returns the arguments of a call as a user message.
pub(super) fn user_message(arguments: &Value) -> String {
    json!([{"role": "user", "parts": [text(&arguments.to_string())]}]).to_string()
}

/// Returns the result of a call as an assistant message.
pub(super) fn result_message(value: &Value) -> String {
    let content = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!([{"role": "assistant", "parts": [text(&content)], "finish_reason": "stop"}]).to_string()
}

/// Returns a model's answer as an assistant message. Events lack the finish reason; tool calls imply `tool_call`.
pub(super) fn model_message(answer: &[EventPart]) -> String {
    let answer = || answer.iter().filter_map(EventPart::whole);
    let calls = answer().any(|part| matches!(part, ResponsePart::ToolCall(_)));
    let parts: Vec<Value> = answer().filter_map(part).collect();
    let finish_reason = if calls { "tool_call" } else { "unknown" };
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}]).to_string()
}

/// Returns a message of a request.
pub(super) fn request_message(message: &ContentMessage) -> Value {
    match message {
        ContentMessage::User { parts } => json!({"role": "user", "parts": parts_of(parts)}),
        ContentMessage::Assistant { parts } => json!({"role": "assistant", "parts": parts_of(parts)}),
        ContentMessage::Tool { results } => {
            let result = |result: &ContentResult| json!({"type": "tool_call_response", "id": result.call_id, "response": result.content});
            json!({"role": "tool", "parts": results.iter().map(result).collect::<Vec<_>>()})
        }
    }
}

/// Returns an answer as a message of the next request.
pub(super) fn answered_message(parts: &[EventPart]) -> Value {
    json!({"role": "assistant", "parts": parts_of(parts)})
}

/// Returns the parts without files, whose bytes do not belong in a span.
fn parts_of(parts: &[EventPart]) -> Vec<Value> {
    parts.iter().filter_map(EventPart::whole).filter_map(part).collect()
}

/// Returns instructions.
pub(super) fn instructions(content: &str) -> String {
    json!([text(content)]).to_string()
}

/// Returns the definitions of tools.
pub(super) fn tools(tools: &[ToolSpec]) -> String {
    let function = |tool: &ToolSpec| json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters});
    tools.iter().map(function).collect::<Value>().to_string()
}

fn part(part: &ResponsePart) -> Option<Value> {
    match part {
        ResponsePart::Text { text: content } => Some(text(content)),
        ResponsePart::Thinking(thought) => Some(json!({"type": "reasoning", "content": thought.text})),
        ResponsePart::ToolCall(call) => {
            let arguments =
                serde_json::from_str(&call.arguments).unwrap_or_else(|_| Value::String(call.arguments.clone()));
            Some(json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": arguments}))
        }
        _ => None,
    }
}

fn text(content: &str) -> Value {
    json!({"type": "text", "content": content})
}
