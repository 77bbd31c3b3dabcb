//! `settings`: the model settings of requests.

use crate::did_you_mean;
use crate::table::{COUNT, COUNT_32, DURATION, FLAG, KeyDef, NUMBER, Read, TEXT, Value};
use crate::values::Reader;
use crate::yaml::{Content, Node};

/// The keys of `settings`.
pub const SETTINGS: &[KeyDef] = &[
    KeyDef::new("temperature", NUMBER, "The sampling temperature: from 0 up to 2 with most providers"),
    KeyDef::new("top_p", NUMBER, "The cumulative probability of nucleus sampling: from 0 to 1"),
    KeyDef::new("max_tokens", COUNT_32, "The maximum number of output tokens, including reasoning"),
    KeyDef::new("seed", COUNT, "The seed, for providers that support reproducible answers"),
    KeyDef::new("stop", STOP, "A list of texts before which the model stops"),
    KeyDef::new("presence_penalty", NUMBER, "The penalty for tokens that occurred before: mostly from -2 to 2"),
    KeyDef::new("frequency_penalty", NUMBER, "The penalty for tokens by how often they occurred: mostly from -2 to 2"),
    KeyDef::new(
        "thinking",
        |node, reader| thinking(&node, reader),
        "`off`, `minimal`, `low`, `medium` or `high`, or a number of tokens",
    ),
    KeyDef::new("parallel_tool_calls", FLAG, "Whether the model may request several tool calls in one answer"),
    KeyDef::new("cache_prompt", FLAG, "Whether to set cache breakpoints, for providers that need them"),
    KeyDef::new("service_tier", TEXT, "The provider's service tier, such as `flex`"),
    KeyDef::new("batch", FLAG, "Whether requests go to the provider's batch API, for half the price and within a day"),
    KeyDef::new(
        "compact_at",
        COUNT_32,
        "From how many input tokens on the provider itself summarizes the conversation, if it can",
    ),
    KeyDef::new("timeout", DURATION, "The timeout of a request; for a stream, the maximum time between two chunks"),
    KeyDef::new(
        "extra_body",
        FIELDS,
        "A map of additional fields of the request body, which override fields of the same name",
    ),
];

const STOP: Read = |node, reader| reader.nonempty_strings_or_spaces(node).map(|texts| Value::Texts(texts.value));
const FIELDS: Read = |node, reader| {
    let place = node.place;
    reader.map(node).map(|fields| Value::Json(Node { place, content: Content::Map(fields) }))
};
const LEVELS: [&str; 5] = ["off", "minimal", "low", "medium", "high"];

fn thinking(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    const EXPECTED: &str = "expected `off`, `minimal`, `low`, `medium` or `high`, or a number of tokens";
    match &node.content {
        Content::String(word) => LEVELS.into_iter().find(|level| level == word).map(Value::Thinking).or_else(|| {
            let hint = did_you_mean(word, LEVELS);
            reader.fault(node.place, format!("unknown thinking level `{word}`{hint}\n{EXPECTED}"))
        }),
        Content::Whole(_) | Content::Number(_) => COUNT_32(node.clone(), reader),
        Content::Invalid => None,
        other => reader.invalid(node.place, format!("{EXPECTED}, found {}", other.kind())),
    }
}
