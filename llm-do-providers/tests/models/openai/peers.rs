//! Servers with deviations from the protocol.

use llm_do_providers::{FinishReason, Response};
use serde_json::{Value, json};

use crate::openai::{answer_of, ending, model, piece, stream_answer_of, stream_of};
use crate::question::{events, streamed, whole};
use crate::server::{Reply, Server};

fn calls(response: &Response) -> Vec<(&str, &str, &str)> {
    response.tool_calls().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect()
}

#[tokio::test]
async fn id_and_name_may_be_in_every_chunk_beside_the_legacy_form() {
    let delta = |arguments: &str| {
        json!({
            "role": null, "content": null, "refusal": null, "reasoning": null,
            "function_call": {"name": "add", "arguments": arguments},
            "tool_calls": [{"index": 0, "id": "c1", "type": "function",
                            "function": {"name": "add", "arguments": arguments}}]
        })
    };
    let response = stream_answer_of([delta("{\"a\""), delta(":1"), delta("}")], "tool_calls").await;
    assert_eq!(calls(&response), [("c1", "add", "{\"a\":1}")]);
}

#[tokio::test]
async fn a_legacy_function_call_is_a_tool_call() {
    let function = json!({"name": "add", "arguments": "{}"});
    let response = answer_of(json!({"content": null, "function_call": function}), "function_call").await;
    assert_eq!(calls(&response), [("call_1_0", "add", "{}")]);
    let deltas =
        [json!({"function_call": {"name": "add", "arguments": ""}}), json!({"function_call": {"arguments": "{}"}})];
    assert_eq!(stream_answer_of(deltas, "function_call").await, response);
}

#[tokio::test]
async fn calls_may_have_no_index_or_all_the_same() {
    for index in [Value::Null, json!(0), json!(-7), json!(i64::MAX)] {
        let call = |id: &str, name: &str| json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": "{}"}}]});
        let response = stream_answer_of([call("c1", "add"), call("c2", "sub")], "tool_calls").await;
        assert_eq!(calls(&response), [("c1", "add", "{}"), ("c2", "sub", "{}")], "{index}");
    }
}

#[tokio::test]
async fn calls_may_have_no_ids() {
    let call = |name: &str| json!({"tool_calls": [{"function": {"name": name, "arguments": {"a": 1}}}]});
    let response = stream_answer_of([call("add"), call("add")], "stop").await;
    assert_eq!(calls(&response), [("call_1_0", "add", "{\"a\":1}"), ("call_1_1", "add", "{\"a\":1}")]);
    assert_eq!(response.finish, FinishReason::ToolCalls, "regardless of the server's `finish_reason`");
}

#[tokio::test]
async fn an_id_that_changes_between_chunks_is_one_call() {
    let deltas = [
        json!({"tool_calls": [{"index": 0, "id": "x1", "function": {"name": "add", "arguments": "{"}}]}),
        json!({"tool_calls": [{"index": 0, "id": "x2", "function": {"name": null, "arguments": "}"}}]}),
    ];
    assert_eq!(calls(&stream_answer_of(deltas, "tool_calls").await), [("x1", "add", "{}")]);
}

#[tokio::test]
async fn an_empty_chunk_is_not_an_event() {
    let delta = |arguments: &str| {
        json!({"content": "", "reasoning": "",
               "tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": arguments}}]})
    };
    let server = Server::scripted([stream_of([delta(""), delta(""), delta("{}"), delta("")], "tool_calls")]).await;
    let events = events(&model(&server).build().unwrap()).await;
    assert_eq!(events.len(), 3, "the call's beginning, its arguments, the answer: {events:?}");
}

#[tokio::test]
async fn a_name_may_come_after_the_first_arguments() {
    let deltas = [
        json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"arguments": "{"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"name": "add", "arguments": "}"}}]}),
    ];
    assert_eq!(calls(&stream_answer_of(deltas, "tool_calls").await), [("c1", "add", "{}")]);
}

#[tokio::test]
async fn an_empty_text_beside_tool_calls_is_dropped() {
    let call = json!({"id": "c1", "function": {"name": "add", "arguments": "{}"}});
    let response = answer_of(json!({"content": "", "tool_calls": [call]}), "tool_calls").await;
    assert_eq!(response.parts.len(), 1);
}

#[tokio::test]
async fn nulls_are_accepted_everywhere() {
    let nulls = json!({"object": null, "model": null, "choices": null, "usage": null, "error": null});
    let choice = json!({"index": null, "delta": null, "message": null, "finish_reason": null, "logprobs": null});
    let call = json!({"index": null, "id": null, "function": null});
    let usage = json!({"prompt_tokens": null, "completion_tokens": -1, "prompt_tokens_details": null});
    let reply = Reply::stream()
        .chunk(": a comment\n\nevent: ping\n\n")
        .event(&nulls.to_string())
        .event(&json!({"choices": [choice]}).to_string())
        .event(&piece(json!({"content": null, "tool_calls": null, "function_call": null})).to_string())
        .event(&piece(json!({"content": [{"type": "text", "text": "hi"}, {"type": "image"}]})).to_string())
        .event(&json!({"choices": [{"finish_reason": ""}], "usage": usage}).to_string())
        .event("[DONE]")
        .end();
    let server = Server::scripted([reply]).await;
    let response = streamed(&model(&server).build().unwrap()).await.unwrap();
    assert_eq!((response.text().as_str(), response.usage.output_tokens), ("hi", 0));
    let response =
        answer_of(json!({"content": "hi", "tool_calls": [call, {"function": {"name": "add"}}]}), "stop").await;
    assert_eq!(calls(&response), [("call_1_0", "add", "")]);
}

#[tokio::test]
async fn other_choices_are_ignored() {
    let reply = Reply::stream()
        .event(&json!({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}).to_string())
        .event(&json!({"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}]}).to_string())
        .event("[DONE]")
        .end();
    let server = Server::scripted([reply]).await;
    assert_eq!(streamed(&model(&server).build().unwrap()).await.unwrap().text(), "yes");
}

#[tokio::test]
async fn a_finished_stream_needs_no_end_mark() {
    let [finish, usage] = ending("stop");
    let reply = Reply::stream()
        .event(&piece(json!({"content": "a"})).to_string())
        .event(&finish.to_string())
        .event(&usage.to_string());
    for reply in [reply.clone().end(), reply] {
        let server = Server::scripted([reply]).await;
        let response = streamed(&model(&server).build().unwrap()).await.unwrap();
        assert_eq!((response.text().as_str(), response.usage.output_tokens), ("a", 4));
    }
}

#[tokio::test]
async fn an_end_mark_replaces_a_missing_finish_reason() {
    let reply = Reply::stream().event(&piece(json!({"content": "a"})).to_string()).event("[DONE]").end();
    let server = Server::scripted([reply]).await;
    assert_eq!(streamed(&model(&server).build().unwrap()).await.unwrap().finish, FinishReason::Stop);
}

/// Responses of servers that serialize unused optional fields.
#[tokio::test]
async fn an_empty_function_call_beside_an_answer_is_ignored() {
    let empties = [
        json!({"function_call": {"name": "", "arguments": ""}}),
        json!({"function_call": {"name": null, "arguments": null}}),
        json!({"tool_calls": [{"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": ""}}]}),
        json!({"tool_calls": [{"function": null}], "function_call": {}}),
    ];
    for empty in empties {
        let mut message = empty.clone();
        message["content"] = json!("Hello");
        let response = answer_of(message.clone(), "stop").await;
        assert_eq!((response.text().as_str(), response.tool_calls().count()), ("Hello", 0), "{empty}");
        assert_eq!(stream_answer_of([message, empty.clone()], "stop").await, response, "{empty}");
    }
}

#[tokio::test]
async fn an_empty_chunk_beside_a_call_changes_nothing() {
    let called = json!({"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}});
    let empty = json!({"index": 1, "id": "", "function": {"name": "", "arguments": ""}});
    let message = json!({"tool_calls": [called, empty], "function_call": {"name": "", "arguments": ""}});
    let response = answer_of(message, "tool_calls").await;
    let calls: Vec<_> = response.tool_calls().map(|call| (call.id.as_str(), call.name.as_str())).collect();
    assert_eq!(calls, [("c1", "add")]);
}

#[tokio::test]
async fn calls_without_a_finish_reason_finish_with_other() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": ""}}]});
    let reply = Reply::stream().event(&piece(call.clone()).to_string()).event("[DONE]").end();
    let body = json!({"model": "m-1", "choices": [{"index": 0, "message": call, "finish_reason": null}]});
    let server = Server::scripted([reply, Reply::json(200, &body)]).await;
    let model = model(&server).build().unwrap();
    for response in [streamed(&model).await.unwrap(), whole(&model).await.unwrap()] {
        assert_eq!((response.finish, response.tool_calls().count()), (FinishReason::Other, 1));
    }
}
