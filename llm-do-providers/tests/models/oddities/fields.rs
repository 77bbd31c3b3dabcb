//! Fields of other types than documented, where their meaning is clear.

use llm_do_providers::{FinishReason, Response};
use serde_json::{Value, json};

use super::{Wire, ask, check, chunk, stream};
use crate::server::Reply;

/// The answer of a stream of chat completions with these deltas of calls.
async fn calls(deltas: &[Value], finish: &str) -> Vec<(String, String)> {
    let mut lines: Vec<_> = deltas.iter().map(|calls| super::line(&chunk(&json!({ "tool_calls": calls })))).collect();
    lines.push(super::line(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})));
    let response = ask(Wire::Chat, stream(lines), true).await.unwrap();
    assert_eq!(response.finish, FinishReason::ToolCalls, "{deltas:?}");
    named(&response)
}

fn named(response: &Response) -> Vec<(String, String)> {
    response.tool_calls().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

fn expected(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned())).collect()
}

fn function(name: &str, arguments: &str) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// What is odd, the `tool_calls` of each event, and the names and arguments of the calls.
type Case = (&'static str, Vec<Value>, Vec<(&'static str, &'static str)>);

#[tokio::test]
async fn calls_are_kept_apart_however_they_are_numbered() {
    let more = |arguments: &str| json!([{"index": 0, "function": {"arguments": arguments}}]);
    let cases: Vec<Case> = vec![
        (
            "two at index 0 without ids",
            vec![
                json!([{"index": 0, "function": function("add", "{\"a\":1}")}]),
                json!([{"index": 0, "function": function("add", "{\"a\":2}")}]),
            ],
            vec![("add", "{\"a\":1}"), ("add", "{\"a\":2}")],
        ),
        (
            "two at index 0 without ids, in pieces",
            vec![
                json!([{"index": 0, "function": function("add", "")}]),
                more("{\"a\""),
                more(":1}"),
                json!([{"index": 0, "function": function("add", "")}]),
                more("{\"a\":2}"),
            ],
            vec![("add", "{\"a\":1}"), ("add", "{\"a\":2}")],
        ),
        (
            "a name in every piece",
            vec![
                json!([{"index": 0, "id": "c1", "function": function("add", "")}]),
                json!([{"index": 0, "id": "c1", "function": function("add", "{\"a\"")}]),
                json!([{"index": 0, "id": "c1", "function": function("add", ":1}")}]),
                json!([{"index": 0, "id": "c1", "function": function("add", "")}]),
            ],
            vec![("add", "{\"a\":1}")],
        ),
        (
            "a name in every piece without an id or an index",
            vec![
                json!([{"function": function("add", "")}]),
                json!([{"function": function("add", "{\"a\"")}]),
                json!([{"function": function("add", ":1}")}]),
                json!([{"function": function("add", "")}]),
            ],
            vec![("add", "{\"a\":1}")],
        ),
        (
            "an id before the index",
            vec![json!([{"id": "c1"}]), json!([{"index": 0, "function": function("add", "{\"a\":1}")}])],
            vec![("add", "{\"a\":1}")],
        ),
        (
            "texts as indexes and numbers as ids",
            vec![
                json!([{"index": "0", "id": 7, "function": function("add", "{\"a\"")}, {"index": "1", "id": 8, "function": function("sub", "{}")}]),
                json!([{"index": "0", "function": {"arguments": ":1}"}}]),
            ],
            vec![("add", "{\"a\":1}"), ("sub", "{}")],
        ),
        (
            "an object as the arguments, and no list",
            vec![json!({"index": 0, "id": "c1", "function": {"name": "add", "arguments": {"a": 1}}})],
            vec![("add", "{\"a\":1}")],
        ),
        (
            "another id in every piece",
            vec![
                json!([{"index": 0, "id": "x1", "function": function("add", "{\"a\"")}]),
                json!([{"index": 0, "id": "x2", "function": function("add", ":1}")}]),
            ],
            vec![("add", "{\"a\":1}")],
        ),
        (
            "ids that name the call of a piece",
            vec![
                json!([{"index": 0, "id": "c1", "function": function("add", "{\"a\"")}]),
                json!([{"index": 0, "id": "c2", "function": function("sub", "{\"b\"")}]),
                json!([{"index": 0, "id": "c1", "function": {"arguments": ":1}"}}]),
                json!([{"index": 0, "id": "c2", "function": {"arguments": ":2}"}}]),
            ],
            vec![("add", "{\"a\":1}"), ("sub", "{\"b\":2}")],
        ),
    ];
    for (how, deltas, wanted) in cases {
        for finish in ["tool_calls", "stop"] {
            assert_eq!(calls(&deltas, finish).await, expected(&wanted), "{how}");
        }
    }
}

#[tokio::test]
async fn a_repeated_role_and_an_empty_finish_reason_cost_nothing() {
    let mut events = Wire::Chat.events();
    for event in &mut events[..4] {
        event["choices"][0]["finish_reason"] = json!("");
        event["choices"][0]["delta"]["role"] = json!("assistant");
        event["choices"][0]["delta"]["refusal"] = json!(false);
        event["choices"][0]["index"] = json!("0");
        event["choices"][0]["logprobs"] = json!("none");
    }
    events
        .insert(2, chunk(&json!({"content": null, "tool_calls": null, "function_call": null, "reasoning": {"a": 1}})));
    events.push(chunk(&json!({"content": ""})));
    check(Wire::Chat, &ask(Wire::Chat, stream(events.iter().map(super::line)), true).await.unwrap(), "chat");
}

#[tokio::test]
async fn the_whole_answer_at_the_end_of_its_stream_is_not_added_to_it() {
    let mut events = Wire::Chat.events();
    let mut whole = Wire::Chat.whole();
    whole["object"] = json!("chat.completion");
    events.push(whole);
    check(Wire::Chat, &ask(Wire::Chat, stream(events.iter().map(super::line)), true).await.unwrap(), "repeated");
}

#[tokio::test]
async fn responses_take_arguments_as_an_object_and_an_output_of_null() {
    let mut whole = Wire::Responses.whole();
    whole["output"][1]["arguments"] = json!({"a": 1});
    check(Wire::Responses, &ask(Wire::Responses, Reply::json(200, &whole), false).await.unwrap(), "whole");
    for output in [json!(null), json!([]), json!("")] {
        let mut events = Wire::Responses.events();
        events[6]["item"]["arguments"] = json!({"a": 1});
        events[7]["response"]["output"] = output.clone();
        check(
            Wire::Responses,
            &ask(Wire::Responses, stream(events.iter().map(super::line)), true).await.unwrap(),
            "streamed",
        );
        // Without the events for the ends of the items.
        let kept = events.iter().filter(|event| event["type"] != "response.output_item.done");
        check(
            Wire::Responses,
            &ask(Wire::Responses, stream(kept.map(super::line)), true).await.unwrap(),
            "without ends",
        );
    }
    let mut events = Wire::Responses.events();
    for event in &mut events {
        event["output_index"] = event["output_index"].as_u64().map(|index| index.to_string()).into();
    }
    events[5]["delta"] = json!({"a": 1});
    check(Wire::Responses, &ask(Wire::Responses, stream(events.iter().map(super::line)), true).await.unwrap(), "texts");
}

#[tokio::test]
async fn anthropic_takes_texts_as_indexes_and_input_in_any_form() {
    let wire = Wire::Anthropic;
    for input in [json!({"a": 1}), json!("{\"a\":1}")] {
        let mut whole = wire.whole();
        whole["content"][1]["input"] = input.clone();
        check(wire, &ask(wire, Reply::json(200, &whole), false).await.unwrap(), "whole");
    }
    let mut events = wire.events();
    for event in &mut events {
        if let Some(index) = event["index"].as_u64() {
            event["index"] = json!(index.to_string());
        }
    }
    events[6]["delta"]["partial_json"] = json!({"a": 1});
    check(wire, &ask(wire, stream(events.iter().map(super::line)), true).await.unwrap(), "streamed");
    let mut events = wire.events();
    for event in &mut events {
        event.as_object_mut().unwrap().remove("index");
    }
    check(wire, &ask(wire, stream(events.iter().map(super::line)), true).await.unwrap(), "without indexes");
    let types_in_names = wire.events().into_iter().map(|mut event| {
        let name = event["type"].take();
        event.as_object_mut().unwrap().remove("type");
        format!("event: {}\ndata: {event}\n\n", name.as_str().unwrap())
    });
    check(wire, &ask(wire, stream(types_in_names), true).await.unwrap(), "types as names of events");
}

#[tokio::test]
async fn gemini_takes_arguments_as_text_and_parts_without_a_list() {
    let wire = Wire::Gemini;
    let mut events = wire.events();
    events[0]["candidates"][0]["content"]["parts"] = json!({"text": "Hel", "thought": "false"});
    events[1]["candidates"] = json!({"content": {"parts": ["lo"]}, "index": "0"});
    events[2]["candidates"][0]["content"]["parts"][0]["functionCall"]["args"] = json!("{\"a\": 1}");
    check(wire, &ask(wire, stream(events.iter().map(super::line)), true).await.unwrap(), "streamed");
}

#[tokio::test]
async fn a_number_is_an_id_with_every_protocol() {
    for wire in super::WIRES {
        let text = wire.whole().to_string().replace("\"c1\"", "41");
        let whole: Value = serde_json::from_str(&text).unwrap();
        let lines: Vec<_> = wire.lines().iter().map(|line| line.replace("\"c1\"", "41")).collect();
        for (reply, is_streamed) in [(Reply::json(200, &whole), false), (stream(lines), true)] {
            let response = ask(wire, reply, is_streamed).await.unwrap();
            assert_eq!(response.tool_calls().next().unwrap().id, "41", "{wire:?}");
        }
    }
}
