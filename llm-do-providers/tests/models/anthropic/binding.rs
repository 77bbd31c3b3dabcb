//! Thinking bound to another conversation: the server drops it instead of rejecting the request.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking> and
//! <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/fix-bound-to-a-different-conversation>.

use llm_do_providers::{
    Message, Model, ProviderData, Request, ResponsePart, Settings, Thinking, ThinkingLevel, ToolCall, ToolResult,
};
use serde_json::{Value, json};

use crate::anthropic::{hello, named};
use crate::question::add;
use crate::server::{Reply, Server};

const BETA: &str = "thinking-binding-controls-2026-08-01";
const BOUND: [&str; 5] =
    ["claude-fable-5-1", "claude-mythos-5-2", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"];

fn thought(signature: &str) -> ResponsePart {
    let data = ProviderData::new("anthropic", json!({"type": "thinking", "signature": signature}));
    ResponsePart::Thinking(Thinking::new("hm").with_provider_data(data))
}

/// A conversation with thinking before the user's last message and in the current turn.
fn conversation() -> [Message; 5] {
    let call = ToolCall::new("c1", "add", "{}");
    [
        Message::user("hi"),
        Message::Assistant { parts: vec![thought("first"), ResponsePart::Text { text: "hello".into() }] },
        Message::user("1+2?"),
        Message::Assistant { parts: vec![thought("second"), ResponsePart::ToolCall(call.clone())] },
        Message::Tool { results: vec![ToolResult::new(&call, "3")] },
    ]
}

/// The body and the head of a request to a server that is not Anthropic's; `betas` are the model's.
async fn asked(model: &str, betas: &[&str], messages: &[Message], settings: &Settings) -> (Value, String) {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let model = betas.iter().fold(named(model, &server), |model, beta| model.beta(*beta)).build().unwrap();
    let tools = [add()];
    model.request(Request::new(messages, settings).tools(&tools)).await.unwrap();
    let request = server.requests().remove(0);
    (request.body, request.head)
}

/// The signatures that are sent back.
fn signatures(body: &Value) -> Vec<&str> {
    let blocks = body["messages"].as_array().unwrap().iter().filter_map(|said| said["content"].as_array()).flatten();
    blocks.filter_map(|block| block["signature"].as_str()).collect()
}

#[tokio::test]
async fn thinking_with_an_invalid_binding_is_dropped() {
    let binding = json!({"prefix_mismatch_behavior": "drop_block"});
    for model in BOUND {
        let (body, head) = asked(model, &[BETA], &conversation(), &Settings::default()).await;
        assert_eq!(body["thinking"], json!({"type": "adaptive", "block_binding": binding}), "{model}");
        assert_eq!(signatures(&body), ["first", "second"], "{model}");
        assert!(head.contains(&format!("anthropic-beta: {BETA}")), "{head}");

        let settings = Settings::new().thinking(ThinkingLevel::High);
        let (body, _) = asked(model, &[BETA], &conversation(), &settings).await;
        let expected = json!({"type": "adaptive", "display": "summarized", "block_binding": binding});
        assert_eq!(body["thinking"], expected, "{model}");
    }
}

#[tokio::test]
async fn a_conversation_without_thinking_sends_no_binding_setting() {
    let (body, _) = asked("claude-fable-5-1", &[BETA], &[Message::user("hi")], &Settings::default()).await;
    assert_eq!(body.get("thinking"), None);
}

#[tokio::test]
async fn models_without_bound_thinking_get_no_binding_setting() {
    for model in ["claude-fable-5", "claude-opus-5", "claude-sonnet-4-5", "glm-5"] {
        let settings = Settings::new().thinking(ThinkingLevel::Low);
        let (body, _) = asked(model, &[BETA], &conversation(), &settings).await;
        assert_eq!(body["thinking"].get("block_binding"), None, "{model}");
    }
}

#[tokio::test]
async fn without_the_beta_the_field_is_not_sent() {
    let (body, head) = asked("claude-opus-5-5", &[], &conversation(), &Settings::default()).await;
    assert!(body.get("thinking").is_none() && !head.contains("anthropic-beta"), "{head}");

    let mine = Settings::new().extra_header("Anthropic-Beta", "mine");
    let (body, head) = asked("claude-opus-5-5", &[BETA], &conversation(), &mine).await;
    assert!(body.get("thinking").is_none() && head.contains("anthropic-beta: mine\r\n"), "{head}");

    let both = Settings::new().extra_header("anthropic-beta", format!("mine,{BETA}"));
    let (body, _) = asked("claude-opus-5-5", &[], &conversation(), &both).await;
    assert_eq!(body["thinking"]["block_binding"]["prefix_mismatch_behavior"], "drop_block");
}

/// The setting requires thinking, and according to the second page such thinking has to be removed by the client.
#[tokio::test]
async fn with_thinking_off_only_the_thinking_of_the_current_turn_is_sent() {
    let settings = Settings::new().thinking(ThinkingLevel::Off);
    for (model, off) in [("claude-sonnet-5-5", "between_tools"), ("claude-haiku-5-5", "disabled")] {
        let (body, _) = asked(model, &[BETA], &conversation(), &settings).await;
        assert_eq!(body["thinking"], json!({"type": off}), "{model}");
        assert_eq!(signatures(&body), ["second"], "{model}");
    }
    let (body, _) = asked("claude-sonnet-5", &[BETA], &conversation(), &settings).await;
    assert_eq!(signatures(&body), ["first", "second"], "it binds none");
}
