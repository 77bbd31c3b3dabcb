//! A stream of the Responses API, cut into pieces.

use serde_json::json;

use super::Answer;
use crate::exchange::pieces::read_at_once;
use crate::exchange::tests::any_split;
use crate::model::StreamEvent;

/// A thought in two paragraphs, a text, and two calls, by
/// <https://platform.openai.com/docs/api-reference/responses-streaming>.
fn stream() -> Vec<u8> {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA=", "summary": [
        {"type": "summary_text", "text": "Hm."}, {"type": "summary_text", "text": "Grüße, 世界"}]});
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Both 🦀", "annotations": []}]});
    let call = |n: u8| {
        json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"),
        "name": "add", "arguments": format!("{{\"a\":{n}}}")})
    };
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_1", "model": "m-1", "output": []}}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Grüße, 世界"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": reasoning}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "Both "}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "🦀"}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": "response.output_item.added", "output_index": 2, "item": {"type": "function_call", "name": "add"}}),
        json!({"type": "response.output_item.added", "output_index": 3, "item": {"type": "function_call", "name": "add"}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{\"a\":2}"}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"a\":1}"}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": call(1)}),
        json!({"type": "response.output_item.done", "output_index": 3, "item": call(2)}),
        json!({"type": "response.completed", "response": {"model": "m-1", "status": "completed",
            "output": [reasoning, message, call(1), call(2)], "usage": {"input_tokens": 9, "output_tokens": 8,
                "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 5}}}}),
    ];
    let event =
        |event: &serde_json::Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(event).collect::<String>().into_bytes()
}

fn answer() -> Answer {
    Answer::new("m".into())
}

#[test]
fn the_pieces_are_shown_and_the_last_is_the_answer() {
    let (events, error) = read_at_once(answer(), &stream());
    assert!(error.is_none(), "{error:?}");
    let shown: Vec<_> = events.iter().filter(|event| !matches!(event, StreamEvent::Done(_))).collect();
    let call =
        |index, arguments: &str| StreamEvent::ToolCall { index, name: "add".into(), arguments: arguments.into() };
    let thought = |text: &str| StreamEvent::Thinking(text.into());
    let said = |text: &str| StreamEvent::Text(text.into());
    let expected = [
        thought("Hm."),
        thought("\n\n"),
        thought("Grüße, 世界"),
        said("Both "),
        said("🦀"),
        call(0, ""),
        call(1, ""),
        call(1, "{\"a\":2}"),
        call(0, "{\"a\":1}"),
    ];
    assert_eq!(shown, expected.iter().collect::<Vec<_>>());
    let Some(StreamEvent::Done(response)) = events.last() else { panic!("{events:?}") };
    assert_eq!((response.text().as_str(), response.tool_calls().count()), ("Both 🦀", 2));
    assert_eq!((response.usage.cached_tokens, response.usage.reasoning_tokens), (4, 5));
}

any_split!(&stream(), answer());
