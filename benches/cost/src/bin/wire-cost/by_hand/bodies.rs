//! The request body of each wire.

use serde_json::{Value, json};

use crate::client::{Variant, Wire};
use crate::question::{INSTRUCTIONS, MAX_TOKENS, MODEL, conversation, tools};

/// Returns the body of a request.
pub(crate) fn body(variant: Variant) -> Value {
    let mut body = match variant.wire {
        Wire::Chat => chat(),
        Wire::Responses => responses(),
        Wire::Anthropic => anthropic(),
        Wire::Gemini => gemini(),
    };
    if variant.is_streamed && variant.wire != Wire::Gemini {
        body["stream"] = true.into();
    }
    if variant.is_streamed && variant.wire == Wire::Chat {
        body["stream_options"] = json!({ "include_usage": true });
    }
    body
}

fn role(is_user: bool) -> &'static str {
    if is_user { "user" } else { "assistant" }
}

fn chat() -> Value {
    let turns = conversation().map(|(is_user, text)| json!({ "role": role(is_user), "content": text }));
    let messages: Vec<_> = [json!({ "role": "system", "content": INSTRUCTIONS })].into_iter().chain(turns).collect();
    let tool = |(name, description, parameters): (String, &str, Value)| {
        let function = json!({ "name": name, "description": description, "parameters": parameters });
        json!({ "type": "function", "function": function })
    };
    let tools: Vec<_> = tools().into_iter().map(tool).collect();
    json!({ "model": MODEL, "messages": messages, "tools": tools, "max_tokens": MAX_TOKENS })
}

fn responses() -> Value {
    let item = |(is_user, text): (bool, &str)| {
        let part = if is_user {
            json!({ "type": "input_text", "text": text })
        } else {
            json!({ "type": "output_text", "text": text, "annotations": [] })
        };
        json!({ "type": "message", "role": role(is_user), "content": [part] })
    };
    let input: Vec<_> = conversation().map(item).collect();
    let tool = |(name, description, parameters): (String, &str, Value)| json!({ "type": "function", "name": name, "description": description, "parameters": parameters, "strict": false });
    let tools: Vec<_> = tools().into_iter().map(tool).collect();
    json!({
        "model": MODEL, "instructions": INSTRUCTIONS, "input": input, "tools": tools, "max_output_tokens": MAX_TOKENS,
        "store": false, "include": ["reasoning.encrypted_content"]
    })
}

fn anthropic() -> Value {
    let text = |text| json!([{ "type": "text", "text": text }]);
    let messages: Vec<_> =
        conversation().map(|(is_user, turn)| json!({ "role": role(is_user), "content": text(turn) })).collect();
    let tool = |(name, description, schema): (String, &str, Value)| json!({ "name": name, "description": description, "input_schema": schema });
    let tools: Vec<_> = tools().into_iter().map(tool).collect();
    json!({
        "model": MODEL, "max_tokens": MAX_TOKENS, "system": text(INSTRUCTIONS), "messages": messages, "tools": tools
    })
}

fn gemini() -> Value {
    let role = |is_user| if is_user { "user" } else { "model" };
    let contents: Vec<_> =
        conversation().map(|(is_user, text)| json!({ "role": role(is_user), "parts": [{ "text": text }] })).collect();
    let tool = |(name, description, schema): (String, &str, Value)| json!({ "name": name, "description": description, "parametersJsonSchema": schema });
    let tools: Vec<_> = tools().into_iter().map(tool).collect();
    json!({
        "systemInstruction": { "parts": [{ "text": INSTRUCTIONS }] }, "contents": contents,
        "tools": [{ "functionDeclarations": tools }], "generationConfig": { "maxOutputTokens": MAX_TOKENS }
    })
}
