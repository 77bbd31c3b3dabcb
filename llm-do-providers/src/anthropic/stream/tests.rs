//! A stream of the Messages API, cut into pieces.

use std::sync::Arc;

use super::Answer;
use crate::exchange::pieces::read_at_once;
use crate::exchange::tests::any_split;
use crate::message::{FinishReason, ResponsePart};
use crate::model::StreamEvent;

/// All events of <https://platform.claude.com/docs/en/build-with-claude/streaming> but errors: a thought, an encrypted one, a
/// search with its result, a cited text, two calls; pings, line ends of both kinds, characters of several bytes.
const STREAM: &str = concat!(
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",",
    "\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":10,",
    "\"cache_creation_input_tokens\":5,\"cache_read_input_tokens\":100,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
    "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
    "\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm, 世界\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
    "\"delta\":{\"type\":\"signature_delta\",\"signature\":\"EqQB+/==\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,",
    "\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"EmwK\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "event: content_block_start\r\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":",
    "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":{}}}\r\n\r\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,",
    "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"query\\\":\\\"rust\\\"}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":",
    "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":[{\"type\":\"web_search_result\",",
    "\"url\":\"https://rust-lang.org\",\"title\":\"Rust\",\"encrypted_content\":\"Eqgf+/=\"}]}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":3}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":4,",
    "\"content_block\":{\"type\":\"text\",\"text\":\"\",\"citations\":[]}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":4,\"delta\":{\"type\":\"citations_delta\",",
    "\"citation\":{\"type\":\"web_search_result_location\",\"url\":\"https://rust-lang.org\",\"encrypted_index\":\"Eo8=\"}}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":4,",
    "\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße 🦀\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":4}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":5,",
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"add\",\"input\":{}}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":5,",
    "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\"}}\n\n",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":5,",
    "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\": 1}\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":5}\n\n",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":6,",
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"now\",\"input\":{}}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":6}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\",\"stop_sequence\":null},",
    "\"usage\":{\"output_tokens\":42,\"output_tokens_details\":{\"thinking_tokens\":7}}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

fn begun() -> Answer {
    Answer::new(Arc::from("m"))
}

#[test]
fn the_stream_has_all_its_parts() {
    let (events, error) = read_at_once(begun(), STREAM.as_bytes());
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
