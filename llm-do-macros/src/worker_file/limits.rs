//! What a worker may use, as the runtime's limits are written as data.

use std::time::Duration;

use super::keys::{unknown, value};
use super::value::Reader;
use super::yaml::{Content, Name, Node};
use super::{At, Fault};

/// The limits that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The limits on how many, by their names, which are also those of the setters.
    pub(crate) counts: Vec<(&'static str, u64)>,
    /// In millionths of millionths of a dollar.
    pub(crate) cost: Option<u128>,
    pub(crate) allow_unpriced: Option<bool>,
    pub(crate) wall_time: Option<Duration>,
}

const KEYS: [&str; 10] = [
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
/// How many digits of a dollar there are after the point.
const DIGITS: usize = 12;
const DOLLAR: u128 = 1_000_000_000_000;

/// Reads the limits; what is at fault is noted and left out.
pub(super) fn read(node: Node, faults: &mut Vec<Fault>) -> Option<At<Limits>> {
    let line = node.line;
    let mut limits = Limits::default();
    for (name, node) in (Reader { key: "limits", faults }).map(node)? {
        limits.set(&name, &node, faults);
    }
    Some(At { line, value: limits })
}

impl Limits {
    fn set(&mut self, name: &Name, node: &Node, faults: &mut Vec<Fault>) {
        let mut reader = Reader { key: &name.text, faults };
        match KEYS.into_iter().find(|key| *key == name.text) {
            Some("cost") => self.cost = money(node, &mut reader),
            Some("allow_unpriced") => self.allow_unpriced = reader.flag(node),
            Some("wall_time") => self.wall_time = value(reader.time(node)),
            Some(key) => self.counts.extend(value(reader.count(node)).map(|count| (key, count))),
            None => faults.push(unknown(name, " of `limits`", &KEYS)),
        }
    }
}

fn money(node: &Node, reader: &mut Reader<'_>) -> Option<u128> {
    let money = match &node.content {
        Content::Whole(dollars) => picodollars(&dollars.to_string()),
        Content::Number(dollars) => picodollars(&dollars.to_string()),
        Content::Text(text) => picodollars(text.strip_prefix('$').unwrap_or(text)),
        _ => None,
    };
    let expected = "`cost` takes an amount of dollars such as 0.25, with at most 12 digits after the point";
    money.or_else(|| reader.fault(node.line, expected))
}

/// Reads dollars.
fn picodollars(text: &str) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > DIGITS {
        return None;
    }
    let below: u128 = format!("{fraction:0<DIGITS$}").parse().ok()?;
    let whole = u128::from(whole.parse::<u64>().ok()?);
    (whole * DOLLAR).checked_add(below)
}
