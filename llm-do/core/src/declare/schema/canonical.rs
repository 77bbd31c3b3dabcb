//! The normal form of values for comparisons: a `HashSet` iterates in a different order in each process.
//!
//! Calls run with arguments in the given order, since a list of different items is not a set for every tool.

mod follow;

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr;

use serde_json::{Map, Value};

pub(crate) use self::follow::follow;

/// The maximum number of comparisons with alternatives for one value, since nested alternatives multiply.
const MAX_CHOICES: u32 = 100_000;
/// The maximum number of schemas for one part of a value; a type has a few, a model may write any number.
const MAX_TOGETHER: usize = 64;
/// The maximum depth to which a value is compared with alternatives.
const MAX_DEPTH: u32 = 8;

/// Returns whether values of a schema may have unordered parts: sets and maps.
pub(super) fn is_needed(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => is_set(schema) || is_map(schema) || keywords.values().any(is_needed),
        Value::Array(schemas) => schemas.iter().any(is_needed),
        _ => false,
    }
}

/// Sorts the items of sets and the fields of maps in a value that matches `schema`.
pub(super) fn sort(schema: &Value, value: &mut Value) {
    let sorter = Sorter { root: schema, choices_left: Cell::new(MAX_CHOICES) };
    sorter.sort(value, vec![schema]);
}

fn is_set(schema: &Value) -> bool {
    schema.get("uniqueItems") == Some(&Value::Bool(true))
}

fn is_map(schema: &Value) -> bool {
    let additional = schema.get("additionalProperties");
    schema.get("patternProperties").is_some() || additional.is_some_and(|schema| *schema != Value::Bool(false))
}

struct Sorter<'s> {
    root: &'s Value,
    choices_left: Cell<u32>,
}

impl<'s> Sorter<'s> {
    fn sort(&self, value: &mut Value, schemas: Vec<&'s Value>) {
        let schemas = self.with_subschemas(schemas, value);
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.sort(item, schemas.iter().filter_map(|schema| of_item(schema, index)).collect());
                }
                if schemas.iter().any(|schema| is_set(schema)) {
                    items.sort_by_cached_key(text);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    self.sort(field, schemas.iter().flat_map(|schema| of_field(schema, name)).collect());
                }
                if schemas.iter().any(|schema| is_open(schema)) {
                    sort_fields(fields, &schemas);
                }
            }
            _ => {}
        }
    }

    /// Adds the schemas that also apply to the value: targets of references, `allOf`, and the matching alternative.
    fn with_subschemas(&self, mut schemas: Vec<&'s Value>, value: &Value) -> Vec<&'s Value> {
        let mut next = 0;
        schemas.truncate(MAX_TOGETHER);
        while let Some(&schema) = schemas.get(next).filter(|_| schemas.len() < MAX_TOGETHER) {
            next += 1;
            // Serde also uses the first variant that matches.
            let chosen = ["anyOf", "oneOf"].into_iter().filter_map(|keyword| {
                list(schema, keyword).find(|alternative| self.fits(alternative, value, MAX_DEPTH))
            });
            let added = self.referred(schema).into_iter().chain(list(schema, "allOf")).chain(chosen);
            for schema in added.take(MAX_TOGETHER) {
                // Each schema is added once, so that cycles end.
                if !schemas.iter().any(|known| ptr::eq(*known, schema)) {
                    schemas.push(schema);
                }
            }
        }
        schemas
    }

    fn referred(&self, schema: &Value) -> Option<&'s Value> {
        self.root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }

    /// Returns whether a value matches an alternative by types, constants and fields.
    fn fits(&self, schema: &Value, value: &Value, depth: u32) -> bool {
        let left = self.choices_left.get();
        if depth == 0 || left == 0 {
            return true;
        }
        self.choices_left.set(left - 1);
        let fits = |schema: &Value| self.fits(schema, value, depth - 1);
        schema != &Value::Bool(false)
            && schema.get("type").is_none_or(|kind| is_of(kind, value))
            && schema.get("const").is_none_or(|constant| constant == value)
            && schema.get("enum").and_then(Value::as_array).is_none_or(|allowed| allowed.contains(value))
            && self.parts_fit(schema, value, depth - 1)
            && self.referred(schema).is_none_or(fits)
            && list(schema, "allOf").all(fits)
            && ["anyOf", "oneOf"].into_iter().all(|key| schema.get(key).is_none() || list(schema, key).any(fits))
    }

    fn parts_fit(&self, schema: &Value, value: &Value, depth: u32) -> bool {
        match value {
            Value::Array(items) => items
                .iter()
                .enumerate()
                .all(|(index, item)| of_item(schema, index).is_none_or(|schema| self.fits(schema, item, depth))),
            Value::Object(fields) => {
                let is_there = |name: &Value| name.as_str().is_some_and(|name| fields.contains_key(name));
                list(schema, "required").all(is_there)
                    && fields.iter().all(|(name, field)| {
                        of_field(schema, name).into_iter().all(|schema| self.fits(schema, field, depth))
                    })
            }
            _ => true,
        }
    }
}

fn list<'v>(schema: &'v Value, keyword: &str) -> impl Iterator<Item = &'v Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

fn of_item(schema: &Value, index: usize) -> Option<&Value> {
    let fixed = schema.get("prefixItems").and_then(|items| items.get(index));
    fixed.or_else(|| schema.get("items"))
}

/// Returns the schemas of a field: its own, or else those for all undeclared fields.
fn of_field<'s>(schema: &'s Value, name: &str) -> Vec<&'s Value> {
    if let Some(own) = schema.get("properties").and_then(|properties| properties.get(name)) {
        return vec![own];
    }
    // A map with keys that are not strings, such as numbers, has a single pattern, which need not be matched.
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    patterns.into_iter().flat_map(Map::values).chain(schema.get("additionalProperties")).collect()
}

/// Returns whether an object may have undeclared fields.
fn is_open(schema: &Value) -> bool {
    is_map(schema) || schema.get("type").is_some() && schema.get("additionalProperties").is_none()
}

/// Sorts fields: declared ones in the order of the schema, then undeclared ones by name.
fn sort_fields(fields: &mut Map<String, Value>, schemas: &[&Value]) {
    let named = schemas.iter().filter_map(|schema| schema.get("properties")?.as_object()).flat_map(Map::keys);
    let mut positions = HashMap::new();
    for (position, name) in named.enumerate() {
        positions.entry(name).or_insert(position);
    }
    let mut sorted: Vec<_> = std::mem::take(fields).into_iter().collect();
    sorted.sort_by_cached_key(|(name, _)| (positions.get(name).copied().unwrap_or(usize::MAX), name.clone()));
    fields.extend(sorted);
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match (kind, value) {
        (Value::Array(kinds), _) => kinds.iter().any(|kind| is_of(kind, value)),
        (Value::String(kind), value) => match kind.as_str() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "number" => value.is_number(),
            _ => true,
        },
        _ => true,
    }
}

/// Returns the JSON text of a value with its fields sorted by name.
fn text(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(sorted).collect(),
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().map(|(name, field)| (name.clone(), sorted(field))).collect();
                fields.sort_by(|(left, _), (right, _)| left.cmp(right));
                Value::Object(fields.into_iter().collect())
            }
            other => other.clone(),
        }
    }
    sorted(value).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use schemars::{JsonSchema, schema_for};
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema, Serialize)]
    struct Inner {
        tags: BTreeSet<String>,
        listed: Vec<String>,
    }

    #[derive(JsonSchema, Serialize)]
    #[expect(dead_code, reason = "only its schema is used")]
    #[serde(tag = "kind")]
    enum Tagged {
        Set { items: BTreeSet<String> },
        List { items: Vec<String> },
    }

    #[derive(JsonSchema, Serialize)]
    #[expect(dead_code, reason = "only its schema is used")]
    #[serde(untagged)]
    enum Untagged {
        Names(Vec<String>),
        Numbers(BTreeSet<u32>),
    }

    #[derive(JsonSchema, Serialize)]
    struct Outer {
        set: Option<BTreeSet<u32>>,
        inner: BTreeMap<String, Inner>,
        pair: (BTreeSet<u32>, Vec<u32>),
        by_number: BTreeMap<u32, u32>,
        tagged: Vec<Tagged>,
        untagged: Vec<Untagged>,
        nested: BTreeSet<BTreeSet<u32>>,
    }

    #[test]
    fn sets_and_maps_are_sorted_at_any_depth_and_lists_are_not() {
        let schema = schema_for!(Outer).to_value();
        assert!(is_needed(&schema));
        let mut value = json!({
            "set": [3, 1, 2],
            "inner": { "z": { "tags": ["b", "a"], "listed": ["b", "a"] }, "a": { "tags": [], "listed": [] } },
            "pair": [[2, 1], [2, 1]],
            "by_number": { "7": 1, "5": 2 },
            "tagged": [{ "kind": "List", "items": ["b", "a"] }, { "kind": "Set", "items": ["b", "a"] }],
            "untagged": [["b", "a"], [2, 1]],
            "nested": [[4, 3], [2, 1]],
        });
        sort(&schema, &mut value);
        let expected = json!({
            "set": [1, 2, 3],
            "inner": { "a": { "tags": [], "listed": [] }, "z": { "tags": ["a", "b"], "listed": ["b", "a"] } },
            "pair": [[1, 2], [2, 1]],
            "by_number": { "5": 2, "7": 1 },
            "tagged": [{ "kind": "List", "items": ["b", "a"] }, { "kind": "Set", "items": ["a", "b"] }],
            "untagged": [["b", "a"], [1, 2]],
            "nested": [[1, 2], [3, 4]],
        });
        assert_eq!(value.to_string(), expected.to_string());
    }

    #[test]
    fn a_schema_without_sets_and_maps_needs_no_sorting() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "array", "items": {} } },
                             "additionalProperties": false });
        assert!(!is_needed(&schema));
    }

    #[test]
    fn the_number_of_schemas_considered_for_a_part_of_a_value_is_bounded() {
        let schema = json!({ "allOf": vec![json!({}); 20_000] });
        let sorter = Sorter { root: &schema, choices_left: Cell::new(MAX_CHOICES) };
        assert!(sorter.with_subschemas(vec![&schema], &json!(1)).len() < 2 * MAX_TOGETHER);
    }

    #[test]
    fn sorting_with_nested_conjunctions_and_reference_cycles_terminates() {
        let mut defs = Map::new();
        for n in 0..60 {
            let next = json!({ "$ref": format!("#/$defs/{}", (n + 1) % 60) });
            defs.insert(n.to_string(), json!({ "allOf": [next, next], "anyOf": [next, next], "uniqueItems": true }));
        }
        let mut value = json!([2, 1]);
        sort(&json!({ "$defs": defs, "$ref": "#/$defs/0" }), &mut value);
        assert_eq!(value, json!([1, 2]));
    }
}
