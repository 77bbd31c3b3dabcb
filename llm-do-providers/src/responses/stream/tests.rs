//! A stream of the Responses API, cut into pieces.

use super::ResponsesAccumulator;
use crate::exchange::pieces::read_whole;
use crate::exchange::tests::any_split;
use crate::model::StreamEvent;
use crate::usage::ServiceTier;

/// A thought in two paragraphs, a text, and two calls, by
/// <https://platform.openai.com/docs/api-reference/responses-streaming>.
const STREAM: &str = include_str!("../../../tests/streams/responses.sse");

fn answer() -> ResponsesAccumulator {
    ResponsesAccumulator::new("m".into(), ServiceTier::default())
}

#[test]
fn the_pieces_are_shown_and_the_last_is_the_answer() {
    let (events, error) = read_whole(answer(), STREAM.as_bytes());
    assert!(error.is_none(), "{error:?}");
    let shown: Vec<_> = events.iter().filter(|event| !matches!(event, StreamEvent::Done(_))).collect();
    let call =
        |index, arguments: &str| StreamEvent::ToolCall { index, name: "add".into(), arguments: arguments.into() };
    let thought = |text: &str| StreamEvent::Thinking(text.into());
    let text = |content: &str| StreamEvent::Text(content.into());
    let expected = [
        thought("Hm."),
        thought("\n\n"),
        thought("Grüße, 世界"),
        text("Both "),
        text("🦀"),
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

any_split!(STREAM.as_bytes(), answer());
