//! `limits`: the usage limits of a call.

use std::time::Duration;

use crate::Fault;
use crate::amount::parse_amount;
use crate::values::{DOCUMENTATION, Reader, unknown_key};
use crate::yaml::{Content, Key, Node};

/// The keys of `limits`.
pub const LIMITS: [&str; 10] = [
    "requests",
    "tool_calls",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "total_tokens",
    "cost",
    "allow_unpriced",
    "wall_time",
];

/// The limits in a file. A key without a value counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of `llm_do::Limits`")]
pub struct Limits {
    pub requests: Option<u64>,
    pub tool_calls: Option<u64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub cached_tokens: Option<u64>,
    pub reasoning_tokens: Option<u64>,
    pub total_tokens: Option<u64>,
    /// In 10⁻¹² US dollars.
    pub cost: Option<u128>,
    pub allow_unpriced: Option<bool>,
    pub wall_time: Option<Duration>,
}

/// Reads the limits; invalid ones are reported and omitted.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Limits> {
    let mut limits = Limits::default();
    for (key, node) in reader.map(node)? {
        if node.content != Content::Null || !LIMITS.contains(&key.name.as_str()) {
            limits.set(&key, &node, reader.faults);
        }
    }
    Some(limits)
}

impl Limits {
    fn set(&mut self, key: &Key, node: &Node, faults: &mut Vec<Fault>) {
        let mut reader = Reader { key: &key.name, faults };
        match key.name.as_str() {
            "requests" => self.requests = reader.count(node, u64::MAX),
            "tool_calls" => self.tool_calls = reader.count(node, u64::MAX),
            "input_tokens" => self.input_tokens = reader.count(node, u64::MAX),
            "output_tokens" => self.output_tokens = reader.count(node, u64::MAX),
            "cached_tokens" => self.cached_tokens = reader.count(node, u64::MAX),
            "reasoning_tokens" => self.reasoning_tokens = reader.count(node, u64::MAX),
            "total_tokens" => self.total_tokens = reader.count(node, u64::MAX),
            "cost" => self.cost = cost(node, &mut reader),
            "allow_unpriced" => self.allow_unpriced = reader.flag(node),
            "wall_time" => self.wall_time = reader.duration(node),
            _ => faults.push(unknown_key(key, " in `limits`", &LIMITS, DOCUMENTATION)),
        }
    }
}

/// Reads an amount; a number is read as its shortest decimal representation, which is what the file contains.
fn cost(node: &Node, reader: &mut Reader<'_>) -> Option<u128> {
    let amount = match &node.content {
        Content::Whole(dollars) => parse_amount(&dollars.to_string()),
        Content::Number(dollars) => parse_amount(&dollars.to_string()),
        Content::String(text) => parse_amount(text),
        _ => return reader.wrong("an amount of US dollars, such as `0.25`", node),
    };
    amount.map_or_else(|error| reader.invalid(node.place, error), Some)
}
