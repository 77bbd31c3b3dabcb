//! The server's responses on each wire: a text streamed in 5,000 deltas, or a text that is not streamed.
//!
//! The formats are documented on <https://platform.openai.com/docs/api-reference/chat-streaming>,
//! <https://platform.openai.com/docs/api-reference/responses-streaming>,
//! <https://platform.claude.com/docs/en/build-with-claude/streaming> and <https://ai.google.dev/api/generate-content>.

use std::sync::{Arc, LazyLock};

use cost::http;
use memchr::memmem;
use serde_json::{Value, json};

use crate::client::Wire;
use crate::question::MODEL;

/// Number of deltas of a streamed text.
pub(crate) const DELTAS: usize = 5000;
/// Number of prompt tokens that the server reports.
pub(crate) const PROMPT_TOKENS: u64 = 512;
/// Number of answer tokens that the server reports.
pub(crate) const ANSWER_TOKENS: u64 = 5000;

const WORDS: [&str; 8] = [" a", " tomato", " wants", " its", " feet", " wet", " and", " leaves\\n"];

/// Returns the deltas of the streamed text, escaped for JSON.
fn words() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().cycle().take(DELTAS)
}

/// Returns the streamed text.
pub(crate) fn streamed_text() -> String {
    words().collect::<String>().replace("\\n", "\n")
}

/// Returns the text of an answer that is not streamed.
pub(crate) fn whole_text() -> String {
    WORDS.concat().replace("\\n", "\n").repeat(16)
}

/// Returns the response to a request.
pub(crate) fn answer(line: &str, body: &[u8]) -> Arc<[u8]> {
    static WHOLE: LazyLock<[Arc<[u8]>; 4]> =
        LazyLock::new(|| Wire::ALL.map(|wire| http::whole(&whole(wire).to_string())));
    static STREAMED: LazyLock<[Arc<[u8]>; 4]> = LazyLock::new(|| Wire::ALL.map(|wire| http::streamed(events(wire))));
    let path = line.split(' ').nth(1).unwrap_or_default();
    let index = Wire::ALL.iter().position(|wire| path.contains(wire.path())).unwrap_or_default();
    let is_streamed = path.contains("stream") || memmem::find(body, br#""stream":true"#).is_some();
    Arc::clone(if is_streamed { &STREAMED[index] } else { &WHOLE[index] })
}

fn whole(wire: Wire) -> Value {
    let text = whole_text();
    match wire {
        Wire::Chat => json!({
            "id": "chatcmpl-0123456789", "object": "chat.completion", "created": 1_760_000_000, "model": MODEL,
            "choices": [{
                "index": 0, "message": { "role": "assistant", "content": text, "refusal": null, "annotations": [] },
                "logprobs": null, "finish_reason": "stop"
            }],
            "usage": {
                "prompt_tokens": PROMPT_TOKENS, "completion_tokens": ANSWER_TOKENS,
                "total_tokens": PROMPT_TOKENS + ANSWER_TOKENS, "prompt_tokens_details": { "cached_tokens": 0 },
                "completion_tokens_details": { "reasoning_tokens": 0 }
            },
            "service_tier": "default", "system_fingerprint": "fp_0"
        }),
        Wire::Responses => response("completed", &text),
        Wire::Anthropic => json!({
            "id": "msg_0123456789", "type": "message", "role": "assistant", "model": MODEL,
            "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {
                "input_tokens": PROMPT_TOKENS, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "output_tokens": ANSWER_TOKENS, "service_tier": "standard"
            }
        }),
        Wire::Gemini => json!({
            "candidates": [{
                "content": { "parts": [{ "text": text }], "role": "model" }, "finishReason": "STOP", "index": 0
            }],
            "usageMetadata": {
                "promptTokenCount": PROMPT_TOKENS, "candidatesTokenCount": ANSWER_TOKENS,
                "totalTokenCount": PROMPT_TOKENS + ANSWER_TOKENS
            },
            "modelVersion": MODEL, "responseId": "r-0123456789"
        }),
    }
}

/// Returns a response object of the Responses API.
fn response(status: &str, text: &str) -> Value {
    let done = status == "completed";
    let usage = json!({
        "input_tokens": PROMPT_TOKENS, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": ANSWER_TOKENS,
        "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": PROMPT_TOKENS + ANSWER_TOKENS
    });
    json!({
        "id": "resp_0123456789", "object": "response", "created_at": 1_760_000_000, "status": status, "error": null,
        "incomplete_details": null, "instructions": null, "max_output_tokens": null, "model": MODEL,
        "output": if done { vec![item(status, text)] } else { vec![] }, "parallel_tool_calls": true, "store": false,
        "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "usage": done.then_some(usage), "metadata": {}
    })
}

fn item(status: &str, text: &str) -> Value {
    let content = (status == "completed").then(|| part(text));
    let content: Vec<_> = content.into_iter().collect();
    json!({ "id": "msg_0", "type": "message", "status": status, "role": "assistant", "content": content })
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

fn events(wire: Wire) -> Vec<String> {
    match wire {
        Wire::Chat => chat_events(),
        Wire::Responses => responses_events(),
        Wire::Anthropic => anthropic_events(),
        Wire::Gemini => gemini_events(),
    }
}

fn chat_events() -> Vec<String> {
    let piece = |choices: &str, usage: &str| {
        format!(
            r#"data: {{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"{MODEL}","service_tier":"default","system_fingerprint":"fp_0","choices":[{choices}],"usage":{usage}}}"#
        )
    };
    let delta = |delta: &str, finish: &str| {
        piece(&format!(r#"{{"index":0,"delta":{{{delta}}},"logprobs":null,"finish_reason":{finish}}}"#), "null")
    };
    let usage = whole(Wire::Chat)["usage"].to_string();
    let begin = [delta(r#""role":"assistant","content":"","refusal":null"#, "null")];
    let end = [delta("", r#""stop""#), piece("", &usage), "data: [DONE]".to_owned()];
    begin.into_iter().chain(words().map(|word| delta(&format!(r#""content":"{word}""#), "null"))).chain(end).collect()
}

fn responses_events() -> Vec<String> {
    let event = |kind: &str, more: &Value| {
        let mut data = json!({ "type": kind });
        data.as_object_mut().into_iter().for_each(|data| data.extend(more.as_object().cloned().unwrap_or_default()));
        format!("event: {kind}\ndata: {data}")
    };
    let text = streamed_text();
    let at = json!({ "item_id": "msg_0", "output_index": 0, "content_index": 0 });
    let with = |key: &str, value: Value| {
        let mut at = at.clone();
        at[key] = value;
        at
    };
    let begin = [
        event("response.created", &json!({ "response": response("in_progress", "") })),
        event("response.in_progress", &json!({ "response": response("in_progress", "") })),
        event("response.output_item.added", &json!({ "output_index": 0, "item": item("in_progress", "") })),
        event("response.content_part.added", &with("part", part(""))),
    ];
    let end = [
        event("response.output_text.done", &with("text", text.clone().into())),
        event("response.content_part.done", &with("part", part(&text))),
        event("response.output_item.done", &json!({ "output_index": 0, "item": item("completed", &text) })),
        event("response.completed", &json!({ "response": response("completed", &text) })),
    ];
    let delta = |(index, word): (usize, &str)| {
        format!(
            "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"sequence_number\":{},\"item_id\":\"msg_0\",\"output_index\":0,\"content_index\":0,\"delta\":\"{word}\",\"logprobs\":[],\"obfuscation\":\"x0y1z2\"}}",
            index + 4
        )
    };
    begin.into_iter().chain(words().enumerate().map(delta)).chain(end).collect()
}

fn anthropic_events() -> Vec<String> {
    let event = |data: Value| format!("event: {}\ndata: {data}", data["type"].as_str().unwrap_or_default());
    let mut message = whole(Wire::Anthropic);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = 1.into();
    let begin = [
        event(json!({ "type": "message_start", "message": message })),
        event(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } })),
        event(json!({ "type": "ping" })),
    ];
    let end = [
        event(json!({ "type": "content_block_stop", "index": 0 })),
        event(json!({
            "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
            "usage": { "output_tokens": ANSWER_TOKENS }
        })),
        event(json!({ "type": "message_stop" })),
    ];
    let delta = |word: &str| {
        format!(
            "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{word}\"}}}}"
        )
    };
    begin.into_iter().chain(words().map(delta)).chain(end).collect()
}

fn gemini_events() -> Vec<String> {
    let piece = |(index, word): (usize, &str)| {
        let finish = if index + 1 == DELTAS { r#""finishReason":"STOP","# } else { "" };
        let total = PROMPT_TOKENS + ANSWER_TOKENS;
        format!(
            r#"data: {{"candidates":[{{"content":{{"parts":[{{"text":"{word}"}}],"role":"model"}},{finish}"index":0}}],"usageMetadata":{{"promptTokenCount":{PROMPT_TOKENS},"candidatesTokenCount":{ANSWER_TOKENS},"totalTokenCount":{total}}},"modelVersion":"{MODEL}","responseId":"r-0123456789"}}"#
        )
    };
    words().enumerate().map(piece).collect()
}
