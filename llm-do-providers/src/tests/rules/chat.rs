//! Chat completions, by <https://platform.openai.com/docs/api-reference/chat/create>; Mistral's by the validator of
//! <https://github.com/mistralai/mistral-common>.

use serde_json::Value;

use super::{Findings, data_url, is_file, is_object_text, is_tool_name, list, rule, text, unique};

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(in crate::tests) fn check(body: &Value, is_mistral: bool) -> Findings {
    let mut findings = Vec::new();
    let messages = list(&body["messages"]);
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            // "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
            let id = text(message, "tool_call_id");
            let place = open.iter().position(|known| *known == id);
            rule(&mut findings, place.is_some(), || format!("a result without a call: `{id}`"));
            place.map(|place| open.remove(place));
            rule(&mut findings, is_content(&message["content"], true), || format!("content of a result: {message}"));
            continue;
        }
        // "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        rule(&mut findings, open.is_empty(), || format!("calls without results: {open:?}"));
        open.clear();
        match role {
            "assistant" => {
                open.extend(list(&message["tool_calls"]).iter().map(|call| text(call, "id")));
                assistant(message, is_mistral, &mut findings);
            }
            "user" => rule(&mut findings, is_content(&message["content"], false), || format!("user: {message}")),
            _ => {}
        }
    }
    rule(&mut findings, open.is_empty(), || format!("calls without results at the end: {open:?}"));
    let calls = messages.iter().flat_map(|message| list(&message["tool_calls"]));
    unique(&mut findings, "call", calls.map(|call| text(call, "id")));
    if is_mistral {
        order(messages, &mut findings);
    }
    findings
}

fn assistant(message: &Value, is_mistral: bool, findings: &mut Findings) {
    let calls = list(&message["tool_calls"]);
    let has_content = !text(message, "content").is_empty() || !list(&message["content"]).is_empty();
    rule(findings, has_content || !calls.is_empty(), || "an answer without content and calls".to_owned());
    for call in calls {
        let (id, function) = (text(call, "id"), &call["function"]);
        // "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40"
        let is_id = if is_mistral {
            id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
        } else {
            (1..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        rule(findings, is_id, || format!("id `{id}`"));
        rule(findings, is_tool_name(text(function, "name")), || format!("name {function}"));
        rule(findings, is_object_text(text(function, "arguments")), || format!("arguments {function}"));
    }
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
        "text" => !text(part, "text").is_empty(),
        "image_url" => {
            data_url(text(&part["image_url"], "url")).is_some_and(|(kind, data)| is_file(kind, data, &IMAGES))
        }
        "file" => {
            let url = data_url(text(&part["file"], "file_data"));
            url.is_some_and(|(kind, data)| is_file(kind, data, &["application/pdf"]))
        }
        "document_url" => {
            data_url(text(part, "document_url")).is_some_and(|(kind, data)| is_file(kind, data, &["application/pdf"]))
        }
        "input_audio" => {
            part["input_audio"].is_string() || ["wav", "mp3"].contains(&text(&part["input_audio"], "format"))
        }
        _ => false,
    }
}

/// "Expected last role User or Tool for serving"; "Unexpected role 'user' after role 'tool'".
fn order(messages: &[Value], findings: &mut Findings) {
    let mut last = "";
    for message in messages {
        let role = text(message, "role");
        let is_fine = match last {
            "" => role != "assistant",
            "tool" => matches!(role, "assistant" | "tool"),
            _ => true,
        };
        rule(findings, is_fine, || format!("`{role}` after `{last}`"));
        last = role;
    }
    rule(findings, last != "assistant", || "it ends in an answer".to_owned());
}
