//! What approved calls of one tool by one caller have in common: a shape for each argument.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::decision::Decision;
use super::shape::Shape;

/// A shape for each argument of a call, which has no other arguments.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    shapes: BTreeMap<String, Shape>,
}

impl Hull {
    /// Returns the narrowest hull of calls with the same names of arguments; `data` are the arguments that only carry data.
    pub(super) fn of(approved: &[&Decision], data: &BTreeSet<String>) -> Option<Self> {
        let names = approved.first()?.names();
        let shape = |name: &str| Some((name.to_owned(), Self::shape_of(approved, name, data)?));
        Some(Self { shapes: names.into_iter().map(shape).collect::<Option<_>>()? })
    }

    /// Returns the shape of one argument.
    pub(super) fn shape_of(approved: &[&Decision], name: &str, data: &BTreeSet<String>) -> Option<Shape> {
        let values: Vec<_> = approved.iter().map(|decision| decision.argument(name)).collect();
        Shape::of(&values, data.contains(name))
    }

    /// Returns whether a call with these arguments is in the hull.
    pub(super) fn holds(&self, arguments: &Value) -> bool {
        let Some(arguments) = arguments.as_object() else { return false };
        let has = |(name, shape): (&String, &Shape)| arguments.get(name).is_some_and(|value| shape.holds(value));
        arguments.len() == self.shapes.len() && self.shapes.iter().all(has)
    }

    /// Returns the rule of a policy that approves the calls in the hull.
    pub(super) fn rule(&self, tool: &str, caller: &str) -> Value {
        let only: Option<Map<_, _>> =
            self.shapes.iter().map(|(name, shape)| Some((name.clone(), shape.only()?.clone()))).collect();
        if let Some(arguments) = only {
            return json!({ "tool": tool, "caller": caller, "arguments": arguments, "rule": "pre_approved" });
        }
        let properties: Map<_, _> = self.shapes.iter().map(|(name, shape)| (name.clone(), shape.schema())).collect();
        let required: Vec<_> = self.shapes.keys().collect();
        let when = json!({ "properties": properties, "required": required, "additionalProperties": false });
        json!({ "tool": tool, "caller": caller, "when": when, "rule": "pre_approved" })
    }

    /// Describes the shape of each argument.
    pub(super) fn words(&self) -> BTreeMap<String, String> {
        self.shapes.iter().map(|(name, shape)| (name.clone(), shape.to_string())).collect()
    }
}
