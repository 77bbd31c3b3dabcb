//! Parts that are sent back unchanged over several turns: thinking, encrypted thinking, signatures.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks>.

use llm_do_providers::{
    Message, Model, ProviderData, Request, Response, ResponsePart, Settings, Thinking, ToolCall, ToolResult,
};
use serde_json::{Value, json};

use crate::anthropic::{begun, block, ended, hello, message, model, text_block};
use crate::question::{add, streamed, whole};
use crate::server::{Reply, Server};

/// A signature with all base64 characters, and some that need escaping.
const SIGNATURE: &str = "EqQBCgIYAhIM/+==\u{2028}\"\\";

fn content() -> Value {
    json!([
        {"type": "thinking", "thinking": "I add.\n\u{1F980}", "signature": SIGNATURE},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3p+/=="},
        {"type": "thinking", "thinking": "", "signature": "second+/=="},
        {"type": "text", "text": "Let me add."},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"b": 1, "a": 1.5}, "caller": {"type": "direct"}},
        {"type": "tool_use", "id": "toolu_2", "name": "add", "input": {}},
    ])
}

/// The next request after `response`: the answer and the results.
async fn next(response: &Response) -> Vec<Value> {
    let history = serde_json::to_string(&[Message::user("hi"), Message::Assistant { parts: response.parts.clone() }]);
    let mut messages: Vec<Message> = serde_json::from_str(&history.unwrap()).unwrap();
    let results = response.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
    messages.push(Message::Tool { results });
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let (settings, tools) = (Settings::default(), [add()]);
    model(&server).request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
    server.requests().remove(0).body["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_complete_answer_is_sent_back_unchanged() {
    let server = Server::scripted([Reply::json(200, &message(&content(), "tool_use"))]).await;
    let response = whole(&model(&server)).await.unwrap();
    let messages = next(&response).await;
    assert_eq!(messages[1], json!({"role": "assistant", "content": content()}));
    assert_eq!(messages[2]["content"][1]["tool_use_id"], "toolu_2");
}

#[tokio::test]
async fn a_streamed_answer_is_sent_back_unchanged() {
    let thought = |reply, index, text: &str, signature: &str| {
        let pieces: Vec<_> = text.chars().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
        let signed = [json!({"type": "signature_delta", "signature": signature})];
        block(
            reply,
            index,
            &json!({"type": "thinking", "thinking": "", "signature": ""}),
            &[&pieces[..], &signed].concat(),
        )
    };
    let mut reply = thought(begun(), 0, "I add.\n\u{1F980}", SIGNATURE);
    reply = block(reply, 1, &content()[1], &[]);
    reply = text_block(thought(reply, 2, "", "second+/=="), 3, "Let me add.");
    let mut call = content()[4].clone();
    call["input"] = json!({});
    let input = [json!({"type": "input_json_delta", "partial_json": "{\"b\": 1, \"a\": 1.5}"})];
    reply = block(block(reply, 4, &call, &input), 5, &content()[5], &[]);
    let server = Server::scripted([ended(reply, "tool_use")]).await;
    let response = streamed(&model(&server)).await.unwrap();
    assert_eq!(next(&response).await[1]["content"], content());
}

#[tokio::test]
async fn data_of_another_provider_is_not_sent() {
    let data = |value| ProviderData::new("other", value);
    let thought = Thinking::new("hm").with_provider_data(data(json!({"type": "thinking", "signature": "theirs"})));
    let call = ToolCall::new("c1", "add", "{}").with_provider_data(data(json!({"secret": "theirs"})));
    let opaque = ResponsePart::Opaque(data(json!({"type": "text", "text": "theirs"})));
    let parts = vec![ResponsePart::Thinking(thought), opaque, ResponsePart::ToolCall(call)];
    let messages = next(&Response::new("other", parts, llm_do_providers::Usage::default())).await;
    let expected = json!([{"type": "tool_use", "id": "c1", "name": "add", "input": {}}]);
    assert_eq!(messages[1]["content"], expected);
}

#[tokio::test]
async fn truncated_thinking_is_not_sent_back() {
    let thought = json!({"type": "thinking", "thinking": "I wonder", "signature": ""});
    let text = json!({"type": "text", "text": "Hm."});
    for (content, left) in [(json!([text, thought]), json!([text])), (json!([thought, text]), json!([text]))] {
        let response = crate::anthropic::answer_of(content, "max_tokens").await;
        let shown =
            response.parts.iter().any(|part| matches!(part, ResponsePart::Thinking(it) if it.text == "I wonder"));
        assert!(shown, "{response:?}");
        assert_eq!(next(&response).await[1]["content"], left);
    }
}

#[tokio::test]
async fn an_answer_with_thinking_only_is_not_sent_back() {
    let thought = json!({"type": "thinking", "thinking": "I wonder", "signature": "whole"});
    let response = crate::anthropic::answer_of(json!([thought]), "end_turn").await;
    let messages = next(&response).await;
    assert_eq!(messages.len(), 1, "the API takes no thought at the end of a message: {messages:?}");
}
