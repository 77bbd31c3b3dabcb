//! Streams that deviate from the documentation.

use llm_do_providers::{ResponsePart, StreamEvent};
use serde_json::json;

use crate::anthropic::{Named, begun, block, delta, ended, model, start, text_block};
use crate::question::{events, streamed};
use crate::server::{Reply, Server};

#[tokio::test]
async fn unknown_events_and_deltas_are_ignored() {
    let mut reply = begun().named_event(&json!({"type": "novelty", "delta": {"text": "no"}}));
    reply = text_block(reply, 0, "fine");
    reply = delta(reply, 0, &json!({"type": "novel_delta", "novelty": 1}));
    let server = Server::scripted([ended(reply, "end_turn")]).await;
    assert_eq!(streamed(&model(&server)).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn a_block_with_an_unknown_delta_is_dropped() {
    let whole = block(begun(), 0, &json!({"type": "novelty", "a": 1}), &[]);
    let grows = block(whole, 1, &json!({"type": "novelty", "a": 2}), &[json!({"type": "novel_delta", "more": 3})]);
    let server = Server::scripted([ended(grows, "end_turn")]).await;
    let parts = streamed(&model(&server)).await.unwrap().parts;
    let [ResponsePart::Opaque(kept)] = &parts[..] else { panic!("{parts:?}") };
    assert_eq!(kept.data, json!({"type": "novelty", "a": 1}));
}

#[tokio::test]
async fn usage_at_the_end_replaces_that_at_the_start() {
    let usage = json!({"input_tokens": 50, "cache_read_input_tokens": 7, "output_tokens": 9});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    let reply = text_block(begun(), 0, "fine").named_event(&end).named_event(&json!({"type": "message_stop"})).end();
    let server = Server::scripted([reply]).await;
    let usage = streamed(&model(&server)).await.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.output_tokens), (57, 7, 9));
}

#[tokio::test]
async fn a_stream_with_a_stop_reason_needs_no_last_event() {
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}});
    for reply in
        [text_block(begun(), 0, "fine").named_event(&end), text_block(begun(), 0, "fine").named_event(&end).end()]
    {
        let server = Server::scripted([reply]).await;
        assert_eq!(streamed(&model(&server)).await.unwrap().text(), "fine");
    }
}

#[tokio::test]
async fn a_text_without_a_start_event_and_input_without_deltas_are_read() {
    let mut reply = delta(begun(), 0, &json!({"type": "text_delta", "text": "fi"}));
    reply = delta(reply, 0, &json!({"type": "text_delta", "text": "ne"}));
    let call = json!({"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}});
    reply = start(reply, 1, &call);
    let server = Server::scripted([ended(reply, "tool_use")]).await;
    let mut events: Vec<_> = events(&model(&server)).await.into_iter().map(Result::unwrap).collect();
    let Some(StreamEvent::Done(response)) = events.pop() else { panic!("{events:?}") };
    assert_eq!(response.text(), "fine");
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"a\":1}");
    let shown = StreamEvent::ToolCall { index: 0, name: "add".into(), arguments: "{\"a\":1}".into() };
    assert_eq!(events.last(), Some(&shown));
}

#[tokio::test]
async fn without_a_model_name_the_requested_one_is_reported() {
    let message = json!({"type": "message_start", "message": {"content": []}});
    let reply = ended(text_block(Reply::stream().named_event(&message), 0, "fine"), "end_turn");
    let server = Server::scripted([reply]).await;
    assert_eq!(streamed(&model(&server)).await.unwrap().model, "claude-sonnet-4-5");
}
