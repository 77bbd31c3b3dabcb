//! Converts the items of an answer to parts.

use serde_json::{Map, Value, json};

use crate::attachment::Attachment;
use crate::message::{ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall};
use crate::responses::{PROVIDER, programs};
use crate::server_side::ServerSideTool;

/// Adds the parts of an item; returns whether it is a refusal.
pub(super) fn add_parts(item: Value, parts: &mut Vec<ResponsePart>) -> bool {
    let kind = item["type"].as_str().unwrap_or_default().to_owned();
    match (kind.as_str(), item) {
        ("message", Value::Object(item)) => return message(item, parts),
        ("reasoning", item) => parts.push(thinking(item)),
        ("function_call", item) => parts.push(call(&item)),
        ("web_search_call", item) => {
            let mut asked = item["action"].clone();
            let found = asked.as_object_mut().and_then(|asked| asked.shift_remove("sources")).unwrap_or_default();
            parts.push(used("web_search", asked, found, item));
        }
        ("code_interpreter_call", item) => {
            let (code, outputs) = (json!({ "code": item["code"] }), item["outputs"].clone());
            parts.push(used("code_execution", code, outputs, item));
        }
        (programs::START, item) => {
            let code = json!({ "code": item["code"] });
            parts.push(used(ServerSideTool::ProgrammaticToolCalling.name(), code, Value::Null, item));
        }
        (programs::END, item) => {
            let result = json!(item["result"].as_str().unwrap_or_default());
            parts.push(used(ServerSideTool::ProgrammaticToolCalling.name(), Value::Null, result, item));
        }
        ("image_generation_call", item) => image(item, parts),
        (_, item) => parts.push(ResponsePart::Opaque(ProviderData::new(PROVIDER, item))),
    }
    false
}

fn message(mut item: Map<String, Value>, parts: &mut Vec<ResponsePart>) -> bool {
    let content = item.shift_remove("content").unwrap_or_default();
    let pieces = || content.as_array().into_iter().flatten();
    let written = |piece: &'_ Value| {
        [piece, &piece["text"], &piece["refusal"]].into_iter().find_map(Value::as_str).map(str::to_owned)
    };
    let text: String = content.as_str().map_or_else(|| pieces().filter_map(written).collect(), str::to_owned);
    // The other fields of a message are kept as a part before its text, and sent back with it.
    item.retain(|key, _| !matches!(key.as_str(), "type" | "role"));
    if text.is_empty() {
        return false;
    }
    if !item.is_empty() {
        parts.push(ResponsePart::Opaque(ProviderData::new(PROVIDER, Value::Object(item))));
    }
    parts.push(ResponsePart::Text { text });
    pieces().any(|piece| piece["type"] == "refusal")
}

/// Returns a thought, which is sent back as the unchanged item, with or without text.
fn thinking(item: Value) -> ResponsePart {
    let texts = |key: &str| -> Vec<String> {
        let pieces = item[key].as_array().into_iter().flatten();
        pieces.filter_map(|piece| piece["text"].as_str().map(str::to_owned)).collect()
    };
    let (summary, whole) = (texts("summary"), texts("content"));
    let text = if summary.is_empty() { whole } else { summary }.join("\n\n");
    ResponsePart::Thinking(Thinking::new(text).with_provider_data(ProviderData::new(PROVIDER, item)))
}

fn call(item: &Value) -> ResponsePart {
    // Some servers send only the id of the item.
    let id = [&item["call_id"], &item["id"]].into_iter().map(text).find(|id| !id.is_empty()).unwrap_or_default();
    let call = ToolCall::new(id, text(&item["name"]), text(&item["arguments"]));
    let mut kept = Map::new();
    kept.extend(item.get("id").filter(|id| id.is_string()).map(|id| ("id".to_owned(), id.clone())));
    kept.extend(programs::caller(item).map(|caller| ("caller".to_owned(), caller.clone())));
    if kept.is_empty() {
        return ResponsePart::ToolCall(call);
    }
    ResponsePart::ToolCall(call.with_provider_data(ProviderData::new(PROVIDER, Value::Object(kept))))
}

/// Returns a string, or another value as JSON text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn used(name: &str, input: Value, output: Value, item: Value) -> ResponsePart {
    // The status is `failed`, or `incomplete` for code.
    let error = item["status"].as_str().filter(|status| matches!(*status, "failed" | "incomplete"));
    let used = ServerSideToolUse::new(name, input, output).with_error(error.map(str::to_owned));
    ResponsePart::ServerSideTool(used.with_provider_data(ProviderData::new(PROVIDER, item)))
}

/// Adds an image as an attachment after its tool use; it is sent back as part of the use.
fn image(mut item: Value, parts: &mut Vec<ResponsePart>) {
    let result = item.as_object_mut().and_then(|item| item.shift_remove("result")).unwrap_or_default();
    let media_type = format!("image/{}", item["output_format"].as_str().unwrap_or("png"));
    let image = result.as_str().and_then(|text| Attachment::from_base64(media_type, text));
    parts.push(used("image_generation", json!({ "prompt": item["revised_prompt"] }), Value::Null, item));
    parts.extend(image.map(ResponsePart::Attachment));
}
