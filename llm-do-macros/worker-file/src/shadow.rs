//! `shadow`: a tool that a worker is compared with.

use crate::name::check_worker_name;
use crate::table::{self, COUNT, KeyDef, Value, checked};
use crate::values::Reader;
use crate::yaml::Node;

/// The keys of `shadow`.
const SHADOW: &[KeyDef] = &[
    KeyDef::new("with", item_name, "The tool. Required"),
    KeyDef::new("every", COUNT, "At every how many calls they are compared. Default: 1"),
];

/// Reads the name of a tool or a worker.
pub(crate) fn item_name(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    checked(node, reader, check_worker_name)
}

/// Reads the map, which must name the tool.
pub(crate) fn read(node: Node, reader: &mut Reader<'_>) -> Option<Value> {
    let place = node.place;
    let faults = reader.faults.len();
    let keys = table::read_map(SHADOW, node, reader)?;
    if keys.iter().all(|entry| entry.name != "with") && reader.faults.len() == faults {
        return reader.fault(place, "`shadow` needs `with`: the tool that is compared with the worker");
    }
    Some(Value::Shadow(keys))
}
