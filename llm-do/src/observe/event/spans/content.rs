//! Messages in the JSON format of OpenTelemetry's conventions.

use llm_do_providers::ResponsePart;
use serde_json::{Value, json};

use crate::observe::event::EventPart;

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
