//! Answers, the same complete and streamed.

use llm_do_providers::{FinishReason, ResponsePart, StreamEvent, Thinking};
use serde_json::{Value, json};

use crate::openai::{answer_of, model, stream_answer_of, stream_of};
use crate::question::{events, whole};
use crate::server::{Reply, Server};

fn text(text: &str) -> StreamEvent {
    StreamEvent::Text(text.into())
}

fn call(index: usize, name: &str, arguments: &str) -> StreamEvent {
    StreamEvent::ToolCall { index, name: name.into(), arguments: arguments.into() }
}

fn called(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

#[tokio::test]
async fn a_text_is_the_same_complete_and_streamed() {
    let response = answer_of(json!({"role": "assistant", "content": "Hello, world"}), "stop").await;
    assert_eq!(response.text(), "Hello, world");
    assert_eq!(response.finish, FinishReason::Stop);
    assert_eq!(response.model, "m-1");
    assert_eq!((response.usage.requests, response.usage.input_tokens, response.usage.output_tokens), (1, 3, 4));
    let deltas =
        [json!({"role": "assistant", "content": ""}), json!({"content": "Hello, "}), json!({"content": "world"})];
    assert_eq!(stream_answer_of(deltas, "stop").await, response);
}

#[tokio::test]
async fn a_streamed_text_arrives_as_deltas() {
    let server = Server::scripted([stream_of([json!({"content": "Hel"}), json!({"content": "lo"})], "stop")]).await;
    let events = events(&model(&server).build().unwrap()).await;
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert_eq!(events[..2], [text("Hel"), text("lo")]);
    assert!(matches!(&events[2..], [StreamEvent::Done(response)] if response.text() == "Hello"));
}

#[tokio::test]
async fn a_tool_call_is_the_same_complete_and_streamed() {
    let calls = json!([called("c1", "add", "{\"a\": 1}")]);
    let response = answer_of(json!({"content": null, "tool_calls": calls}), "tool_calls").await;
    assert_eq!(response.finish, FinishReason::ToolCalls);
    assert!(matches!(&response.parts[..], [ResponsePart::ToolCall(call)] if call.id == "c1" && call.name == "add"));
    let deltas = [
        json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": ""}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\""}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": ": 1}"}}]}),
    ];
    assert_eq!(stream_answer_of(deltas.clone(), "tool_calls").await, response);

    let server = Server::scripted([stream_of(deltas, "tool_calls")]).await;
    let events = events(&model(&server).build().unwrap()).await;
    let events: Vec<_> = events.into_iter().map(Result::unwrap).collect();
    assert_eq!(events[..3], [call(0, "add", ""), call(0, "add", "{\"a\""), call(0, "add", ": 1}")]);
}

#[tokio::test]
async fn parallel_tool_calls_are_the_same_complete_and_streamed() {
    let calls = json!([called("c1", "add", "{}"), called("c2", "sub", "{\"b\":2}")]);
    let response = answer_of(json!({"content": "so:", "tool_calls": calls}), "tool_calls").await;
    assert_eq!(response.tool_calls().count(), 2);
    assert_eq!(response.text(), "so:");
    let deltas = [
        json!({"content": "so:"}),
        json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": ""}},
                              {"index": 1, "id": "c2", "function": {"name": "sub", "arguments": "{\"b\""}}]}),
        json!({"tool_calls": [{"index": 1, "function": {"arguments": ":2}"}}, {"index": 0, "function": {"arguments": "{}"}}]}),
    ];
    assert_eq!(stream_answer_of(deltas, "tool_calls").await, response);
}

#[tokio::test]
async fn thinking_is_separate_from_the_text() {
    for key in ["reasoning_content", "reasoning"] {
        let response = answer_of(json!({key: "I wonder", "content": "42"}), "stop").await;
        let thought = ResponsePart::Thinking(Thinking::new("I wonder"));
        assert_eq!(response.parts, [thought, ResponsePart::Text { text: "42".into() }]);
        let deltas = [json!({key: "I "}), json!({key: "wonder"}), json!({"content": "42"})];
        assert_eq!(stream_answer_of(deltas, "stop").await, response);
    }
}

#[tokio::test]
async fn a_refusal_is_the_text_of_a_filtered_answer() {
    let response = answer_of(json!({"content": null, "refusal": "I cannot"}), "stop").await;
    assert_eq!((response.text().as_str(), response.finish), ("I cannot", FinishReason::ContentFilter));
    assert_eq!(stream_answer_of([json!({"refusal": "I "}), json!({"refusal": "cannot"})], "stop").await, response);
}

#[tokio::test]
async fn arguments_cut_off_by_the_limit_are_passed_on() {
    let response = answer_of(json!({"tool_calls": [called("c1", "add", "{\"a\": ")]}), "length").await;
    assert_eq!(response.finish, FinishReason::Length);
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"a\": ");
}

#[tokio::test]
async fn each_finish_reason_has_its_name() {
    let reasons = [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("eos", FinishReason::Other),
    ];
    for (word, reason) in reasons {
        assert_eq!(answer_of(json!({"content": "a"}), word).await.finish, reason);
        assert_eq!(stream_answer_of([json!({"content": "a"})], word).await.finish, reason);
    }
}

#[tokio::test]
async fn cached_and_reasoning_tokens_are_counted() {
    let usage = json!({
        "prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 7, "cache_write_tokens": 2, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 15}
    });
    let body = json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": usage});
    let server = Server::scripted([Reply::json(200, &body)]).await;
    let response = whole(&model(&server).build().unwrap()).await.unwrap();
    let usage = response.usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens), (10, 7, 20, 15));
    assert_eq!(usage.cache_write_tokens, 2);
    assert_eq!(response.model, "m", "the model asked stands in for a name that the server does not give");
}
