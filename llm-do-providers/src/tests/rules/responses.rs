//! The Responses API, by <https://platform.openai.com/docs/api-reference/responses/create> and
//! <https://platform.openai.com/docs/guides/reasoning>.

use serde_json::Value;

use super::{Findings, data_url, is_file, is_object_text, is_tool_name, list, rule, text, unique};

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(in crate::tests) fn check(body: &Value, thinks: bool) -> Findings {
    let mut findings = Vec::new();
    let items = list(&body["input"]);
    let calls = || items.iter().filter(|item| item["type"] == "function_call");
    unique(&mut findings, "call", calls().map(|call| text(call, "call_id")));
    // "Duplicate item found with id rs_.. Remove duplicate items from your input and try again."
    unique(&mut findings, "item", items.iter().filter_map(|item| item["id"].as_str()));
    let outputs = items.iter().filter(|item| item["type"] == "function_call_output");
    unique(&mut findings, "output", outputs.map(|output| text(output, "call_id")));
    for (place, item) in items.iter().enumerate() {
        match text(item, "type") {
            "function_call" => call(item, &items[place..], &mut findings),
            "function_call_output" => {
                let id = text(item, "call_id");
                let is_called =
                    items[..place].iter().any(|call| call["type"] == "function_call" && call["call_id"] == id);
                // "No tool call found for function call output with call_id .."
                rule(&mut findings, is_called, || format!("an output without a call: `{id}`"));
                rule(&mut findings, is_content(&item["output"], true), || format!("output {item}"));
            }
            "reasoning" => {
                let next = items.get(place + 1);
                let is_followed =
                    next.is_some_and(|next| next["type"] != "function_call_output" && next["role"] != "user");
                // "Item 'rs_..' of type 'reasoning' was provided without its required following item."
                rule(&mut findings, thinks && is_followed, || format!("nothing follows {item}"));
                // "Item with id 'rs_..' not found. Items are not persisted when `store` is set to false."
                let has_thought = !text(item, "encrypted_content").is_empty() || !list(&item["content"]).is_empty();
                rule(&mut findings, has_thought, || format!("only the id of a thought: {item}"));
            }
            "message" => {
                rule(&mut findings, is_content(&item["content"], false), || format!("message {item}"));
            }
            kind => rule(&mut findings, !kind.is_empty(), || format!("an item without a type: {item}")),
        }
    }
    findings
}

fn call(item: &Value, after: &[Value], findings: &mut Findings) {
    let id = text(item, "call_id");
    rule(findings, (1..=64).contains(&id.len()), || format!("id `{id}`"));
    rule(findings, is_tool_name(text(item, "name")), || format!("name {item}"));
    rule(findings, is_object_text(text(item, "arguments")), || format!("arguments {item}"));
    // "No tool output found for function call .."
    let is_answered = after.iter().any(|next| next["type"] == "function_call_output" && next["call_id"] == id);
    rule(findings, is_answered, || format!("a call without an output: `{id}`"));
}

fn is_content(content: &Value, may_be_empty: bool) -> bool {
    match content {
        Value::String(text) => may_be_empty || !text.is_empty(),
        Value::Array(parts) => !parts.is_empty() && parts.iter().all(is_part),
        _ => false,
    }
}

fn is_part(part: &Value) -> bool {
    match text(part, "type") {
        "input_text" | "output_text" => !text(part, "text").is_empty(),
        "input_image" => data_url(text(part, "image_url")).is_some_and(|(kind, data)| is_file(kind, data, &IMAGES)),
        "input_file" => {
            data_url(text(part, "file_data")).is_some_and(|(kind, data)| is_file(kind, data, &["application/pdf"]))
        }
        _ => false,
    }
}
