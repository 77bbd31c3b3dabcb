//! The Gemini API, by <https://ai.google.dev/api/caching#Content>, <https://ai.google.dev/gemini-api/docs/function-calling>,
//! <https://ai.google.dev/gemini-api/docs/thought-signatures> and <https://ai.google.dev/gemini-api/docs/image-understanding>.

use serde_json::Value;

use super::{Findings, depth, is_file, is_tool_name, list, rule, text, unique};

/// Beside audio and video.
const FILES: [&str; 6] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"];

/// `is_3` is whether the model is of version 3.
pub(in crate::tests) fn check(body: &Value, is_3: bool) -> Findings {
    let mut findings = Vec::new();
    let contents = list(&body["contents"]);
    let mut called: Vec<&Value> = Vec::new();
    let mut last = "model";
    for content in contents {
        let (role, parts) = (text(content, "role"), list(&content["parts"]));
        rule(&mut findings, !parts.is_empty(), || "a content without parts".to_owned());
        // "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
        rule(&mut findings, !(role == "model" && last == "model"), || "the model after the model".to_owned());
        for part in parts {
            self::part(part, &mut findings);
        }
        let given: Vec<_> = parts.iter().filter_map(|part| part.get("functionResponse")).collect();
        if role == "user" && !(called.is_empty() && given.is_empty()) {
            responses(&called, &given, &mut findings);
            called.clear();
        }
        if role == "model" {
            called = parts.iter().filter_map(|part| part.get("functionCall")).collect();
            let first = parts.iter().find(|part| part.get("functionCall").is_some());
            // "Function call is missing a thought_signature"
            let is_signed = first.is_none_or(|part| !text(part, "thoughtSignature").is_empty());
            rule(&mut findings, !is_3 || is_signed, || "a call without a signature".to_owned());
        }
        last = role;
    }
    rule(&mut findings, called.is_empty(), || "calls without responses".to_owned());
    // "Please ensure that single turn requests end with a user role"
    rule(&mut findings, last == "user", || "it ends in an answer".to_owned());
    let calls = contents.iter().flat_map(|content| list(&content["parts"])).filter_map(|part| part.get("functionCall"));
    unique(&mut findings, "call", calls.filter_map(|call| call["id"].as_str()));
    findings
}

/// "The number of function response parts must be equal to the number of function call parts of the function call turn."
fn responses(called: &[&Value], given: &[&Value], findings: &mut Findings) {
    let key = |value: &&Value| (value["name"].clone(), value["id"].clone());
    let is_paired = called.iter().map(key).eq(given.iter().map(key));
    rule(findings, is_paired, || format!("responses {given:?} for calls {called:?}"));
}

fn part(part: &Value, findings: &mut Findings) {
    if let Some(call) = part.get("functionCall") {
        rule(findings, is_tool_name(text(call, "name")), || format!("name {call}"));
        rule(findings, call["args"].is_object() && depth(&call["args"]) <= 30, || format!("args {call}"));
    } else if let Some(response) = part.get("functionResponse") {
        rule(findings, response["response"].is_object(), || format!("response {response}"));
        rule(findings, depth(&response["response"]) <= 31, || "a deep response".to_owned());
        for file in list(&response["parts"]) {
            self::file(&file["inlineData"], findings);
        }
    } else if let Some(data) = part.get("inlineData") {
        file(data, findings);
    } else if part.get("text").is_some() {
        let is_needed = part.get("thoughtSignature").is_some() || !text(part, "text").is_empty();
        rule(findings, is_needed, || "an empty text".to_owned());
    }
}

fn file(data: &Value, findings: &mut Findings) {
    let media_type = text(data, "mimeType");
    let is_film = media_type.starts_with("audio/") || media_type.starts_with("video/");
    rule(findings, is_film || is_file(media_type, text(data, "data"), &FILES), || format!("file {data}"));
}
