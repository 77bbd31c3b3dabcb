//! Recursive types, which structured output does not support.

use serde_json::Value;

use super::{NotEnforceable, as_step};
use crate::schema::pointer::pointed;

/// Returns an error for a schema with a recursive type.
///
/// # Errors
///
/// Returns the path of the recursive reference.
pub(super) fn check(schema: &Value) -> Result<(), NotEnforceable> {
    CycleSearch { root: schema, path: String::new(), open: Vec::new(), known: Vec::new() }.through(schema)
}

/// A depth-first search along the references of a schema.
struct CycleSearch<'a> {
    root: &'a Value,
    path: String,
    /// The references that are being followed.
    open: Vec<&'a str>,
    /// The references that are known not to lead to a cycle.
    known: Vec<&'a str>,
}

impl<'a> CycleSearch<'a> {
    fn through(&mut self, schema: &'a Value) -> Result<(), NotEnforceable> {
        match schema {
            Value::Object(keywords) => {
                if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
                    self.follow(target)?;
                }
                let mut inner = keywords.iter().filter(|(key, _)| !["$defs", "definitions"].contains(&key.as_str()));
                inner.try_for_each(|(key, value)| self.below(key, value))
            }
            Value::Array(values) => {
                values.iter().enumerate().try_for_each(|(place, value)| self.below(&place.to_string(), value))
            }
            _ => Ok(()),
        }
    }

    fn below(&mut self, step: &str, schema: &'a Value) -> Result<(), NotEnforceable> {
        let length = self.path.len();
        self.path.push_str(&as_step(step));
        self.through(schema)?;
        self.path.truncate(length);
        Ok(())
    }

    fn follow(&mut self, target: &'a str) -> Result<(), NotEnforceable> {
        if self.open.contains(&target) {
            return self.refuse("a recursive type");
        }
        if self.known.contains(&target) {
            return Ok(());
        }
        let Some(schema) = pointed(self.root, target) else { return self.refuse("a reference to nothing") };
        self.open.push(target);
        self.through(schema)?;
        self.open.pop();
        self.known.push(target);
        Ok(())
    }

    fn refuse(&self, what: &'static str) -> Result<(), NotEnforceable> {
        Err(NotEnforceable { path: self.path.clone(), what })
    }
}
