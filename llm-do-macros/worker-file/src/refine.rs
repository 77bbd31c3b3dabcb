//! `refine`: what scores the results of a worker.

use crate::shadow::item_name;
use crate::table::{self, KeyDef, Value};
use crate::values::Reader;
use crate::yaml::Node;

/// The number of results of which the best stands, unless it is set.
pub const DEFAULT_RESULTS: u32 = 3;
/// The fault of a worker that may not give any result.
pub const ZERO_RESULTS: &str = "`at_most` must be at least 1: the number of results, of which the best stands";

/// The keys of `refine`.
const REFINE: &[KeyDef] = &[
    KeyDef::new("with", item_name, "The evaluator: a tool, a script or a worker. Required"),
    KeyDef::new(
        "at_most",
        |node, reader| at_most(&node, reader),
        "How many results there are at most, the first one included. Default: 3",
    ),
    KeyDef::new(
        "accept",
        |node, reader| accept(&node, reader),
        "The score, from 0 to 1, from which on a result is accepted. Default: 1",
    ),
];

/// Checks the score from which on a result is accepted.
///
/// # Errors
///
/// Returns the fault if no score can reach it, or each one does.
pub fn check_accept(score: f64) -> Result<(), String> {
    if score > 0.0 && score <= 1.0 {
        return Ok(());
    }
    Err(format!("`accept` is {score}: expected a score above 0, and of at most 1"))
}

/// Reads the map, which must name the evaluator.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let place = node.place;
    let faults = reader.faults.len();
    let keys = table::read_map(REFINE, node, reader)?;
    if reader.faults.len() > faults {
        return None;
    }
    if keys.iter().all(|entry| entry.name != "with") {
        return reader.fault(place, "`refine` needs `with`: what scores the results of the worker");
    }
    Some(Value::Refine(keys))
}

fn at_most(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    let results: u32 = reader.count(node, u32::MAX)?;
    if results == 0 { reader.fault(node.place, ZERO_RESULTS) } else { Some(Value::Count(results.into())) }
}

fn accept(node: &Node, reader: &mut Reader<'_>) -> Option<Value> {
    let score = reader.number(node)?;
    match check_accept(score) {
        Ok(()) => Some(Value::Number(score)),
        Err(fault) => reader.fault(node.place, fault),
    }
}
