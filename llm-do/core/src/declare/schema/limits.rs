//! Limits on the work of validating values, and on their nesting depth.

use std::collections::HashMap;

use serde_json::Value;

use super::graph::{Graph, Node, Part};

/// The maximum work to validate one value, where 1 is a comparison or two: some tenths of a second.
pub(super) const MAX_WORK: u64 = 2_000_000;
/// The maximum work to do on an async thread: some milliseconds.
pub(super) const QUICK_WORK: u64 = 10_000;
/// The work to compile a pattern.
const COMPILING: u64 = 1_000;
/// The maximum nesting depth of schemas while a value is validated, limited by the stack.
const MAX_LEVEL: usize = 512;
/// The maximum nesting depth of arrays and objects in a value, as `serde_json` reads it.
pub const MAX_VALUE_DEPTH: usize = 128;

/// Returns whether arrays and objects in a value are nested at most `depth` levels deep.
#[must_use]
pub fn is_shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_shallow(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|field| is_shallow(field, depth - 1)),
        _ => true,
    }
}

/// Returns the fault of a schema that is nested too deeply to be stored; `what` names it.
pub(crate) fn depth_fault(what: &str) -> String {
    format!("{what} is nested deeper than {MAX_VALUE_DEPTH} levels; put parts of it into `$defs`")
}

/// Drops a value without recursion, since it may be nested deeper than the stack allows.
pub(crate) fn dismantle(value: Value) {
    let mut parts = vec![value];
    while let Some(part) = parts.pop() {
        match part {
            Value::Array(items) => parts.extend(items),
            Value::Object(fields) => parts.extend(fields.into_iter().map(|(_, field)| field)),
            _ => {}
        }
    }
}

/// Counts patterns, including those in values that are not schemas.
pub(super) fn patterns(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(patterns).sum(),
        Value::Object(fields) => {
            let of = |(key, value): (&String, &Value)| match (key.as_str(), value) {
                ("pattern", Value::String(_)) => 1,
                ("patternProperties", Value::Object(by_pattern)) => by_pattern.len() + patterns(value),
                _ => patterns(value),
            };
            fields.iter().map(of).sum()
        }
        _ => 0,
    }
}

/// Estimates the work to validate values against a schema.
#[derive(Debug)]
pub(super) struct Work {
    graph: Graph,
    expanded: u64,
    is_cyclic: bool,
    cost: u64,
    /// The work to build a validator for the schema.
    building: u64,
}

impl Work {
    /// Returns `None` if the schema has an invalid reference.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let graph = Graph::of(schema).ok()?;
        let extent = graph.extent();
        let cost = (0..graph.len()).map(|number| graph.node(number).cost).max().unwrap_or(1);
        let building = graph.len() as u64 + patterns(schema) as u64 * COMPILING;
        Some(Self { graph, expanded: extent.expanded, is_cyclic: extent.is_cyclic, cost, building })
    }

    /// Returns whether the schema is recursive, so that the work may grow much faster than the value.
    pub(super) fn is_cyclic(&self) -> bool {
        self.is_cyclic
    }

    /// Returns whether the validator can be built on an async thread.
    pub(super) fn is_built_quickly(&self) -> bool {
        self.building <= QUICK_WORK
    }

    /// Returns whether validating `value` takes more work than `limit`.
    pub(super) fn exceeds(&self, value: &Value, limit: u64) -> bool {
        let most = limit / self.expanded.saturating_mul(self.cost).max(1);
        if !self.is_cyclic && has_at_most(value, most) {
            return false;
        }
        let mut count = Count { graph: &self.graph, done: HashMap::new(), visits: 0, limit };
        count.of(0, value, MAX_LEVEL).is_none_or(|(work, height)| work > limit || height > MAX_LEVEL)
    }
}

/// Returns whether a value has at most `most` parts.
fn has_at_most(value: &Value, most: u64) -> bool {
    let (mut parts, mut count) = (vec![value], 0);
    while let Some(part) = parts.pop() {
        count += 1;
        match part {
            _ if count + parts.len() as u64 > most => return false,
            Value::Array(items) => parts.extend(items),
            Value::Object(fields) => parts.extend(fields.values()),
            _ => {}
        }
    }
    true
}

/// Adds up the work for a value without doing it; each schema counts once for each part.
struct Count<'a> {
    graph: &'a Graph,
    /// The work and the height of a schema for a part, by the address of the part.
    done: HashMap<(usize, *const Value), (u64, usize)>,
    visits: u64,
    limit: u64,
}

impl<'a> Count<'a> {
    /// Returns the work and the height; `None` if they exceed the limits.
    fn of(&mut self, number: usize, value: &'a Value, left: usize) -> Option<(u64, usize)> {
        let key = (number, std::ptr::from_ref(value));
        if let Some(done) = self.done.get(&key) {
            return Some(*done);
        }
        self.visits += 1;
        let left = left.checked_sub(1).filter(|_| self.visits <= self.limit)?;
        let graph = self.graph;
        let node = graph.node(number);
        let mut sum = (node.cost, 1);
        for here in &node.here {
            self.add(&mut sum, *here, value, left)?;
        }
        self.parts(&mut sum, node, value, left)?;
        self.done.insert(key, sum);
        Some(sum)
    }

    fn parts(&mut self, sum: &mut (u64, usize), node: &'a Node, value: &'a Value, left: usize) -> Option<()> {
        for (part, below) in &node.below {
            match (part, value) {
                (Part::Property(name), Value::Object(fields)) => {
                    fields.get(name).map_or(Some(()), |field| self.add(sum, *below, field, left))?;
                }
                (Part::Properties, Value::Object(fields)) => {
                    fields.values().try_for_each(|field| self.add(sum, *below, field, left))?;
                }
                (Part::Names, Value::Object(fields)) => {
                    let (work, height) = self.of(*below, &Value::Null, left)?;
                    *sum = (sum.0.saturating_add(work.saturating_mul(fields.len() as u64)), sum.1.max(height + 1));
                }
                (Part::Item(index), Value::Array(items)) => {
                    items.get(*index).map_or(Some(()), |item| self.add(sum, *below, item, left))?;
                }
                (Part::Items, Value::Array(items)) => {
                    items.iter().try_for_each(|item| self.add(sum, *below, item, left))?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn add(&mut self, sum: &mut (u64, usize), number: usize, value: &'a Value, left: usize) -> Option<()> {
        let (work, height) = self.of(number, value, left)?;
        *sum = (sum.0.saturating_add(work), sum.1.max(height + 1));
        (sum.0 <= self.limit).then_some(())
    }
}
