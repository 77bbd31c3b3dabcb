//! The summary of a long conversation that the server makes.

use llm_do_providers::{Message, Model, Request, ResponsePart, Settings};
use serde_json::json;

use crate::anthropic::{asked, begun, block, ended, hello, model, named, text_block};
use crate::question::streamed;
use crate::server::{Reply, Server};

const BETA: &str = "compact-2026-01-12";

#[tokio::test]
async fn a_model_that_summarizes_gets_the_edit_and_its_beta() {
    let messages = [Message::user("hi")];
    for (tokens, sent, warnings) in [(100_000, 100_000, 0), (8_000, 50_000, 1)] {
        let settings = Settings::new().compact_at(tokens).extra_header("anthropic-beta", "mine");
        let (body, head) = asked("claude-opus-5", Request::new(&messages, &settings)).await;
        let trigger = json!({"type": "input_tokens", "value": sent});
        assert_eq!(body["context_management"], json!({"edits": [{"type": "compact_20260112", "trigger": trigger}]}));
        assert!(head.contains(&format!("anthropic-beta: mine,{BETA}")), "{head}");
        let server = Server::scripted([Reply::json(200, &hello())]).await;
        let model = named("claude-opus-5", &server).build().unwrap();
        let response = model.request(Request::new(&messages, &settings)).await.unwrap();
        assert_eq!(response.warnings.len(), warnings, "{tokens}");
    }
}

#[tokio::test]
async fn an_older_model_gets_neither() {
    let (messages, settings) = ([Message::user("hi")], Settings::new().compact_at(100_000));
    let (body, head) = asked("claude-sonnet-4-5", Request::new(&messages, &settings)).await;
    assert!(body.get("context_management").is_none() && !head.contains(BETA), "{body} {head}");
}

#[tokio::test]
async fn a_streamed_summary_goes_back_before_the_text_after_it() {
    let summary = json!({"type": "compaction_delta", "content": "They like bees."});
    let reply = block(begun(), 0, &json!({"type": "compaction", "content": null}), &[summary]);
    let server = Server::scripted([ended(text_block(reply, 1, "fine"), "end_turn")]).await;
    let parts = streamed(&model(&server)).await.unwrap().parts;
    let [ResponsePart::Opaque(kept), ResponsePart::Text { .. }] = &parts[..] else { panic!("{parts:?}") };
    assert!(kept.is_compaction());
    let messages = [Message::user("hi"), Message::Assistant { parts }, Message::user("and now?").pinned()];
    let (body, _) = asked("claude-opus-5", Request::new(&messages, &Settings::default())).await;
    let expected = json!([{"type": "compaction", "content": "They like bees."}, {"type": "text", "text": "fine"}]);
    assert_eq!(body["messages"][1]["content"], expected);
    assert_eq!(body["messages"][2]["content"], json!([{"type": "text", "text": "and now?"}]), "a pin is not sent");
}
