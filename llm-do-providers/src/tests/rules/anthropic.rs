//! The Messages API, by <https://platform.claude.com/docs/en/api/messages/create>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls>,
//! <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> and
//! <https://platform.claude.com/docs/en/build-with-claude/vision>.

use serde_json::Value;

use super::{Findings, is_file, is_tool_name, is_word, list, rule, text, unique};

const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// `continues` is whether the model continues an answer that the conversation ends in.
pub(in crate::tests) fn check(body: &Value, continues: bool) -> Findings {
    let mut findings = Vec::new();
    let messages = list(&body["messages"]);
    let mut called: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let (role, blocks) = (text(message, "role"), list(&message["content"]));
        // "all messages must have non-empty content"
        rule(&mut findings, !blocks.is_empty(), || "a message without content".to_owned());
        let is_next = place == 0 || messages[place - 1]["role"] != role;
        rule(&mut findings, is_next, || format!("`{role}` twice"));
        for block in blocks {
            self::block(block, &mut findings);
        }
        if role == "user" {
            results(blocks, &called, &mut findings);
            called.clear();
        } else {
            called = blocks.iter().filter(|block| block["type"] == "tool_use").map(|block| text(block, "id")).collect();
            let last = blocks.last().map(|block| text(block, "type")).unwrap_or_default();
            // "The final block in an assistant message cannot be `thinking`."
            rule(&mut findings, !last.ends_with("thinking"), || "an answer ends in a thought".to_owned());
        }
    }
    rule(&mut findings, called.is_empty(), || format!("calls without results: {called:?}"));
    let blocks = || messages.iter().flat_map(|message| list(&message["content"]));
    // "`tool_use` ids must be unique"
    let uses = blocks().filter(|block| text(block, "type").ends_with("tool_use"));
    unique(&mut findings, "use", uses.map(|block| text(block, "id")));
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant") {
        // "This model does not support assistant message prefill. The conversation must end with a user message."
        rule(&mut findings, continues, || "it ends in an answer".to_owned());
        let end = list(&last["content"]).last().map(|block| text(block, "text")).unwrap_or_default();
        // "final assistant content cannot end with trailing whitespace"
        rule(&mut findings, end.trim_end() == end, || "it ends in white space".to_owned());
    }
    findings
}

/// "Each `tool_use` block must have a corresponding `tool_result` block in the next message", before anything else in it.
fn results(blocks: &[Value], called: &[&str], findings: &mut Findings) {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let first = blocks.iter().take_while(is_result).map(|block| text(block, "tool_use_id"));
    let given: Vec<_> = first.collect();
    rule(findings, given == called, || format!("results of {given:?} for calls {called:?}"));
    rule(findings, blocks.iter().filter(is_result).count() == given.len(), || "results after other blocks".to_owned());
}

fn block(block: &Value, findings: &mut Findings) {
    match text(block, "type") {
        // "text content blocks must contain non-whitespace text"
        "text" => rule(findings, !text(block, "text").trim().is_empty(), || "an empty text".to_owned()),
        "image" | "document" => file(block, findings),
        "tool_use" => {
            let id = text(block, "id");
            // "String should match pattern '^[a-zA-Z0-9_-]+$'"
            rule(findings, (1..=64).contains(&id.len()) && id.chars().all(is_word), || format!("id `{id}`"));
            rule(findings, is_tool_name(text(block, "name")), || format!("name {block}"));
            // "Input should be a valid dictionary"
            rule(findings, block["input"].is_object(), || format!("input {block}"));
        }
        "tool_result" => {
            let parts = list(&block["content"]);
            // "all content must be type "text" if "is_error" is true"
            let is_text = parts.iter().all(|part| part["type"] == "text");
            rule(findings, block["is_error"] != true || is_text, || format!("a failure with files: {block}"));
            for part in parts {
                self::block(part, findings);
            }
        }
        "thinking" => rule(findings, !text(block, "signature").is_empty(), || format!("unsigned: {block}")),
        kind => rule(findings, !kind.is_empty(), || format!("a block without a type: {block}")),
    }
}

fn file(block: &Value, findings: &mut Findings) {
    let source = &block["source"];
    let (media_type, data) = (text(source, "media_type"), text(source, "data"));
    let is_fine = match (text(block, "type"), text(source, "type")) {
        // "image exceeds 5 MB maximum"
        ("image", "base64") => is_file(media_type, data, &IMAGES) && data.len() <= 5 << 20,
        ("document", "base64") => is_file(media_type, data, &["application/pdf"]),
        ("document", "text") => media_type == "text/plain" && !data.trim().is_empty(),
        _ => false,
    };
    rule(findings, is_fine, || format!("file {block}"));
}
