//! A stream of the Gemini API, cut into pieces.

use super::GeminiAccumulator;
use crate::exchange::pieces::read_whole;
use crate::exchange::tests::any_split;
use crate::message::{ProviderData, ResponsePart};
use crate::model::StreamEvent;
use crate::usage::ServiceTier;
use serde_json::json;

/// Our own, by <https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse> and
/// <https://ai.google.dev/gemini-api/docs/thought-signatures>: a thought, a text in characters of several bytes, code that
/// was run, two calls of which the first is signed, and a signature with an empty text.
const STREAM: &str = include_str!("../../../tests/streams/gemini.sse");

fn answer() -> GeminiAccumulator {
    GeminiAccumulator::new("m".into(), 1, ServiceTier::default())
}

#[test]
fn the_stream_has_eight_events() {
    let (events, error) = read_whole(answer(), STREAM.as_bytes());
    assert!(error.is_none());
    let [
        StreamEvent::Thinking(_),
        StreamEvent::Text(_),
        StreamEvent::Text(_),
        StreamEvent::ServerSideTool { .. },
        StreamEvent::ServerSideToolDone { error: None, .. },
        StreamEvent::ToolCall { index: 0, .. },
        StreamEvent::ToolCall { index: 1, .. },
        StreamEvent::Done(response),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!((response.text().as_str(), response.model.as_str()), ("Grüße, 世界 🦀", "gemini-3-flash"));
    let calls: Vec<_> = response.tool_calls().map(|call| (call.id.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("f1", "{\"a\": 1.0}"), ("call_1_1", "{\"a\":2}")]);
    let usage = response.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (7, 7));
    assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (3, 2));
    let signed = json!({"part": {"text": "", "thoughtSignature": "Qw=="}});
    assert_eq!(response.parts.last(), Some(&ResponsePart::Opaque(ProviderData::new("gemini", signed))));
}

any_split!(STREAM.as_bytes(), answer());
