//! Messages in the JSON that the conventions lay down.

use llm_do_providers::ResponsePart;
use serde_json::{Value, json};

use crate::observe::event::EventPart;

/// Returns the arguments of a call as a message of the user.
pub(super) fn of_user(arguments: &Value) -> String {
    json!([{"role": "user", "parts": [text(&arguments.to_string())]}]).to_string()
}

/// Returns the result of a call as a message of the assistant.
pub(super) fn of_result(value: &Value) -> String {
    let content = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!([{"role": "assistant", "parts": [text(&content)], "finish_reason": "stop"}]).to_string()
}

/// Returns a model's answer. Why it stopped is not in an event: only that it did to have tools called shows.
pub(super) fn of_model(answer: &[EventPart]) -> String {
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
