//! Numbers the subschemas of a schema; each has one number, even if it is referenced several times.

use std::collections::HashMap;

use serde_json::Value;

/// Subschemas in the order in which they were first seen.
#[derive(Default)]
pub(super) struct Subschemas<'a> {
    /// The numbers by the addresses of the schemas.
    numbers: HashMap<*const Value, usize>,
    schemas: Vec<&'a Value>,
}

impl<'a> Subschemas<'a> {
    /// Returns the number of a schema, which is the next one if it was not seen before.
    pub(super) fn number(&mut self, schema: &'a Value) -> usize {
        *self.numbers.entry(std::ptr::from_ref(schema)).or_insert_with(|| {
            self.schemas.push(schema);
            self.schemas.len() - 1
        })
    }

    /// Returns the schema with a number.
    pub(super) fn get(&self, number: usize) -> Option<&'a Value> {
        self.schemas.get(number).copied()
    }
}
