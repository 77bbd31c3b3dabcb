//! A stream of the Messages API, cut into pieces.

use std::sync::Arc;

use super::AnthropicAccumulator;
use crate::exchange::pieces::read_whole;
use crate::exchange::tests::any_split;
use crate::message::{FinishReason, ResponsePart};
use crate::model::StreamEvent;
use crate::usage::ServiceTier;

/// All events of <https://platform.claude.com/docs/en/build-with-claude/streaming> but errors: a thought, an encrypted one, a
/// search with its result, a cited text, two calls; pings, line ends of both kinds, characters of several bytes.
const STREAM: &str = include_str!("../../../tests/streams/anthropic.sse");

fn begun() -> AnthropicAccumulator {
    AnthropicAccumulator::new(Arc::from("m"), ServiceTier::default())
}

#[test]
fn the_stream_has_all_its_parts() {
    let (events, error) = read_whole(begun(), STREAM.as_bytes());
    assert!(error.is_none(), "{error:?}");
    let Some(StreamEvent::Done(response)) = events.last() else { panic!("{events:?}") };
    let [
        ResponsePart::Thinking(thought),
        ResponsePart::Thinking(_),
        ResponsePart::ServerSideTool(used),
        ResponsePart::Text { text },
        ResponsePart::Opaque(_),
        ResponsePart::ToolCall(add),
        ResponsePart::ToolCall(now),
    ] = &response.parts[..]
    else {
        panic!("{:#?}", response.parts)
    };
    assert_eq!(
        (thought.text.as_str(), used.input["query"].as_str(), text.as_str()),
        ("Hm, 世界", Some("rust"), "Grüße 🦀")
    );
    assert_eq!((add.arguments.as_str(), now.arguments.as_str()), ("{\"a\": 1}", "{}"));
    assert_eq!((response.finish, response.model.as_str()), (FinishReason::ToolCalls, "claude-x"));
    let usage = response.usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens), (115, 100, 5));
    assert_eq!((usage.output_tokens, usage.reasoning_tokens, usage.requests), (42, 7, 1));
}

any_split!(STREAM.as_bytes(), begun());
