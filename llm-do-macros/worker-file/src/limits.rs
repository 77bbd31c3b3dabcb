//! `limits`: the usage limits of a call.

use crate::amount::parse_amount;
use crate::table::{COUNT, DURATION, FLAG, KeyDef, Value};
use crate::values::Reader;
use crate::yaml::{Content, Node};

/// The keys of `limits`.
pub const LIMITS: &[KeyDef] = &[
    KeyDef::new("requests", COUNT, "Requests to models"),
    KeyDef::new("tool_calls", COUNT, "Calls of tools and workers"),
    KeyDef::new("input_tokens", COUNT, "Input tokens, including cached ones"),
    KeyDef::new("output_tokens", COUNT, "Output tokens, including reasoning"),
    KeyDef::new("cached_tokens", COUNT, "Input tokens read from providers' caches"),
    KeyDef::new("reasoning_tokens", COUNT, "Reasoning tokens"),
    KeyDef::new("total_tokens", COUNT, "Input and output tokens"),
    KeyDef::new("cost", |node, reader| cost(&node, reader), "US dollars, such as `0.25`"),
    KeyDef::new("allow_unpriced", FLAG, "Whether requests of unknown price are allowed although money is limited"),
    KeyDef::new("wall_time", DURATION, "Wall-clock time since the start of the call"),
];

/// Reads an amount; a number is read as its shortest decimal representation, which equals the text of the file.
fn cost(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    let amount = match &node.content {
        Content::Whole(dollars) => parse_amount(&dollars.to_string()),
        Content::Number(dollars) => parse_amount(&dollars.to_string()),
        Content::String(text) => parse_amount(text),
        _ => return reader.wrong("an amount of US dollars, such as `0.25`", node),
    };
    amount.map_or_else(|error| reader.invalid(node.place, error), |amount| Some(Value::Amount(amount)))
}
