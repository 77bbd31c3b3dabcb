//! A stream of chat completions, cut into pieces.

use std::time::{Duration, Instant};

use serde_json::json;

use super::ChatAccumulator;
use crate::exchange::pieces::read_whole;
use crate::exchange::tests::any_split;
use crate::model::StreamEvent;
use crate::openai::server::ELSEWHERE;

/// Line ends of all kinds, a comment, characters of several bytes, and data in two lines.
const STREAM: &str = include_str!("../../../tests/streams/chat.sse");

#[test]
fn the_stream_has_four_events() {
    let (events, error) = read_whole(ChatAccumulator::new(&ELSEWHERE, "m".into(), 0), STREAM.as_bytes());
    assert!(error.is_none());
    let [StreamEvent::Text(_), StreamEvent::ToolCall { .. }, StreamEvent::ToolCall { .. }, StreamEvent::Done(response)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(response.text(), "Grüße, 世界 🦀");
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"a\":1}");
    assert_eq!(response.usage.output_tokens, 2);
}

any_split!(STREAM.as_bytes(), ChatAccumulator::new(&ELSEWHERE, "m".into(), 0));

/// Thoughts with details that are put together.
mod details {
    use super::super::ChatAccumulator;
    use crate::exchange::tests::any_split;
    use crate::openai::server::Server;

    const STREAM: &str = include_str!("../../../tests/streams/chat-details.sse");

    any_split!(STREAM.as_bytes(), ChatAccumulator::new(Server::OpenRouter.dialect(), "m".into(), 0));
}

/// Thoughts within the content.
mod chunks {
    use super::super::ChatAccumulator;
    use crate::exchange::tests::any_split;
    use crate::openai::server::Server;

    const STREAM: &str = include_str!("../../../tests/streams/chat-chunks.sse");

    any_split!(STREAM.as_bytes(), ChatAccumulator::new(Server::Mistral.dialect(), "m".into(), 0));
}

/// Not each of them may read all the arguments so far again.
#[test]
fn a_long_call_with_its_name_in_every_piece_is_read_in_linear_time() {
    let event = |arguments: &str| {
        let call = json!({"index": 0, "function": {"name": "add", "arguments": arguments}});
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    };
    let end = format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
    let body = event("{\"a\":[{}") + &event(",{\"b\":[{}]}").repeat(50_000) + &event("]}") + &end;
    let started = Instant::now();
    let (events, error) = read_whole(ChatAccumulator::new(&ELSEWHERE, "m".into(), 0), body.as_bytes());
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    let Some(StreamEvent::Done(response)) = events.last() else { panic!("{error:?}") };
    assert_eq!(response.tool_calls().count(), 1);
}
