//! Complete answers.

use llm_do_providers::{FinishReason, ResponsePart, StreamEvent};
use serde_json::{Value, json};

use crate::anthropic::{Named, answer_of, begun, block, delta, ended, message, model, start, stop, text_block};
use crate::question::{events, streamed, whole};
use crate::server::{Reply, Server};

fn tool_use(id: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": "add", "input": input})
}

#[tokio::test]
async fn a_text_block_is_the_answer() {
    let response = answer_of(json!([{"type": "text", "text": "hello"}]), "end_turn").await;
    assert_eq!((response.text().as_str(), response.model.as_str()), ("hello", "claude-1"));
    assert_eq!(response.finish, FinishReason::Stop);
    assert_eq!((response.usage.requests, response.usage.input_tokens, response.usage.output_tokens), (1, 3, 4));
}

#[tokio::test]
async fn parallel_calls_keep_their_order_and_arguments() {
    let content = json!([
        {"type": "text", "text": "Let me see."}, tool_use("t1", &json!({"b": 2, "a": 1.5})), tool_use("t2", &json!({}))
    ]);
    let response = answer_of(content, "tool_use").await;
    let calls: Vec<_> = response.tool_calls().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("t1", "{\"b\":2,\"a\":1.5}"), ("t2", "{}")]);
    assert_eq!(response.finish, FinishReason::ToolCalls);
}

/// By <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>.
#[tokio::test]
async fn each_stop_reason_has_a_finish_reason() {
    let reasons = [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::ContentFilter),
        ("something_new", FinishReason::Other),
    ];
    for (word, expected) in reasons {
        let response = answer_of(json!([{"type": "text", "text": "hello"}]), word).await;
        assert_eq!((response.finish, response.text().as_str()), (expected, "hello"), "{word}");
        let server = Server::scripted([ended(text_block(begun(), 0, "hello"), word)]).await;
        let response = streamed(&model(&server)).await.unwrap();
        assert_eq!((response.finish, response.text().as_str()), (expected, "hello"), "{word}");
    }
}

#[tokio::test]
async fn a_refusal_has_its_reason_in_a_separate_part() {
    let mut body = message(&json!([]), "refusal");
    body["stop_details"] = json!({"type": "refusal", "category": "cyber", "explanation": null});
    let server = Server::scripted([Reply::json(200, &body)]).await;
    let response = whole(&model(&server)).await.unwrap();
    let [ResponsePart::Opaque(data)] = &response.parts[..] else { panic!("{response:?}") };
    assert_eq!((response.finish, &data.data["category"]), (FinishReason::ContentFilter, &json!("cyber")));
}

#[tokio::test]
async fn an_empty_answer_is_valid() {
    let response = answer_of(json!([]), "end_turn").await;
    assert_eq!((response.parts.len(), response.finish), (0, FinishReason::Stop));
}

#[tokio::test]
async fn a_call_truncated_by_the_limit_is_dropped() {
    let content = json!([tool_use("t1", &json!({"a": 1})), tool_use("t2", &json!({}))]);
    for word in ["max_tokens", "model_context_window_exceeded"] {
        let response = answer_of(content.clone(), word).await;
        let ids: Vec<_> = response.tool_calls().map(|call| call.id.as_str()).collect();
        assert_eq!((&ids[..], response.finish), (&["t1"][..], FinishReason::Length));
    }
    for cut in ["", "{\"a\": 1", "{\"a\": 1}"] {
        let part = json!({"type": "input_json_delta", "partial_json": cut});
        let reply = block(text_block(begun(), 0, "hm"), 1, &tool_use("t1", &json!({})), &[part]);
        let server = Server::scripted([ended(reply, "max_tokens")]).await;
        let response = streamed(&model(&server)).await.unwrap();
        assert_eq!((response.tool_calls().count(), response.finish), (0, FinishReason::Length), "{cut}");
    }
}

#[tokio::test]
async fn cached_tokens_are_part_of_the_input_and_server_tool_uses_are_counted() {
    let mut body = message(&json!([{"type": "text", "text": "hi"}]), "end_turn");
    body["usage"] = json!({
        "input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 5}, "server_tool_use": {"web_search_requests": 1, "web_fetch_requests": 2}
    });
    let server = Server::scripted([Reply::json(200, &body)]).await;
    let usage = whole(&model(&server)).await.unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens), (330, 300, 20));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens), (9, 5));
    assert_eq!(usage.server_side_tools, 3);
}

#[tokio::test]
async fn unknown_blocks_are_kept_and_unknown_fields_ignored() {
    let odd = json!({"type": "novelty", "things": [1]});
    let mut body = message(&json!([odd, {"type": "text", "text": "hi", "mood": "good"}]), "end_turn");
    body["usage"]["input_tokens"] = json!(null);
    body["weather"] = json!("fine");
    let server = Server::scripted([Reply::json(200, &body)]).await;
    let response = whole(&model(&server)).await.unwrap();
    let [ResponsePart::Opaque(kept), ResponsePart::Text { text }] = &response.parts[..] else { panic!("{response:?}") };
    assert_eq!((&kept.data, text.as_str()), (&odd, "hi"));
}

#[tokio::test]
async fn a_stream_emits_each_delta() {
    let thought = json!({"type": "thinking", "thinking": "", "signature": ""});
    let mut reply = start(begun(), 0, &thought);
    reply = delta(reply, 0, &json!({"type": "thinking_delta", "thinking": "hm"}));
    reply = stop(delta(reply, 0, &json!({"type": "signature_delta", "signature": "s"})), 0);
    reply = text_block(reply.event("{\"type\":\"ping\"}"), 1, "I add.");
    let part = |json: &str| json!({"type": "input_json_delta", "partial_json": json});
    reply = block(reply, 2, &tool_use("t1", &json!({})), &[part("{\"a\""), part(":1}")]);
    reply = block(reply, 3, &tool_use("t2", &json!({})), &[]);
    let server = Server::scripted([ended(reply, "tool_use")]).await;
    let mut events: Vec<_> = events(&model(&server)).await.into_iter().map(Result::unwrap).collect();
    let Some(StreamEvent::Done(response)) = events.pop() else { panic!("{events:?}") };
    let call =
        |index, arguments: &str| StreamEvent::ToolCall { index, name: "add".into(), arguments: arguments.into() };
    let expected = [
        StreamEvent::Thinking("hm".into()),
        StreamEvent::Text("I add.".into()),
        call(0, ""),
        call(0, "{\"a\""),
        call(0, ":1}"),
        call(1, ""),
    ];
    assert_eq!(events, expected);
    let calls: Vec<_> = response.tool_calls().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("t1", "{\"a\":1}"), ("t2", "{}")]);
    assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (3, 4));
}

/// By <https://platform.claude.com/docs/en/build-with-claude/compaction-threshold> and
/// <https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool> (read 2026-11-22): the figures at the top hold
/// the sampling of the model's own messages, and neither compaction nor the advisor.
#[tokio::test]
async fn compaction_and_advisor_tokens_are_added_to_the_top_level_usage() {
    let iterations = json!([
        {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
        {"type": "message", "input_tokens": 23_000, "output_tokens": 1_000},
        {"type": "advisor_message", "model": "claude-opus-5-5", "input_tokens": 800, "cache_read_input_tokens": 60,
         "cache_creation_input_tokens": 40, "output_tokens": 1_600},
        {"type": "fallback_message", "model": "claude-opus-5", "input_tokens": 5, "output_tokens": 5}
    ]);
    let usage = json!({"input_tokens": 23_000, "output_tokens": 1_000, "iterations": iterations});
    let mut body = crate::anthropic::hello();
    body["usage"] = usage.clone();
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    let stream = text_block(begun(), 0, "hello").named_event(&delta);
    let stream = stream.named_event(&delta).named_event(&json!({"type": "message_stop"})).end();
    let server = Server::scripted([Reply::json(200, &body), stream]).await;
    for usage in [whole(&model(&server)).await.unwrap().usage, streamed(&model(&server)).await.unwrap().usage] {
        assert_eq!((usage.input_tokens, usage.output_tokens), (203_900, 6_100));
        assert_eq!((usage.cached_tokens, usage.cache_write_tokens), (60, 40));
    }
}

#[tokio::test]
async fn calls_without_a_finish_reason_finish_with_other() {
    let call = tool_use("t1", &json!({}));
    let reply = start(begun(), 0, &call).named_event(&json!({"type": "message_stop"})).end();
    let mut body = message(&json!([call]), "");
    body["stop_reason"] = Value::Null;
    let server = Server::scripted([reply, Reply::json(200, &body)]).await;
    let model = model(&server);
    for response in [streamed(&model).await.unwrap(), whole(&model).await.unwrap()] {
        assert_eq!((response.finish, response.tool_calls().count()), (FinishReason::Other, 1));
    }
}
