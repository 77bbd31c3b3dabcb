//! `guarantee`: how seldom the tool that answers first must disagree with a worker.

use crate::table::{self, KeyDef, Read, Value};
use crate::values::Reader;
use crate::yaml::Node;

/// The keys of `guarantee`.
const GUARANTEE: &[KeyDef] = &[
    KeyDef::new("disagreement", SHARE, "The share of answers that may disagree. Required"),
    KeyDef::new("confidence", SHARE, "The confidence. Default: 0.95"),
];

/// Reads a number between 0 and 1, both excluded.
const SHARE: Read = |node, reader| {
    let share = reader.number(&node)?;
    if share > 0.0 && share < 1.0 {
        return Some(Value::Number(share));
    }
    reader.invalid(node.place, format!("expected a number between 0 and 1, such as 0.05, found {share}"))
};

/// Reads the map, which must have the share.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let place = node.place;
    let faults = reader.faults.len();
    let keys = table::read_map(GUARANTEE, node, reader)?;
    if keys.iter().all(|entry| entry.name != "disagreement") && reader.faults.len() == faults {
        return reader.fault(place, "`guarantee` needs `disagreement`: the share of answers that may disagree");
    }
    Some(Value::Guarantee(keys))
}
