//! The types and values that a schema lists, and its fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::combined::COMBINING;
use crate::declare::schema::type_of;

const TYPES: [&str; 6] = ["array", "boolean", "null", "number", "object", "string"];

/// Returns the types that `type` lists.
pub(super) fn listed(schema: &Map<String, Value>) -> BTreeSet<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => [name.as_str()].into(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => TYPES.into(),
    }
}

pub(super) fn named_types(types: &BTreeSet<&str>) -> String {
    if TYPES.iter().all(|name| types.contains(name)) { "any".to_owned() } else { list(types.iter().copied()) }
}

/// Returns the types of the valid values; `number` includes `integer`.
pub(super) fn types(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let listed = listed(schema);
    match values(schema) {
        Some(values) => values.iter().map(type_of).filter(|name| is_in(name, &listed)).collect(),
        None => listed,
    }
}

pub(super) fn is_in(name: &str, types: &BTreeSet<&str>) -> bool {
    types.contains(name) || (name == "integer" && types.contains("number"))
}

/// Returns the values that a schema lists.
pub(super) fn values(schema: &Map<String, Value>) -> Option<&[Value]> {
    match (schema.get("enum"), schema.get("const")) {
        (_, Some(value)) => Some(std::slice::from_ref(value)),
        (Some(Value::Array(values)), None) => Some(values),
        _ => None,
    }
}

/// Returns the types of the values that a typed call sends: a schema without `type` describes an object if it has
/// fields.
pub(super) fn given_types(schema: &Map<String, Value>) -> BTreeSet<&str> {
    match (schema.contains_key("type"), properties(schema).is_some(), schema.contains_key("items")) {
        (false, true, _) => ["object"].into(),
        (false, false, true) => ["array"].into(),
        _ => types(schema),
    }
}

/// Returns whether the generated type of a schema is a struct.
pub(super) fn is_struct(schema: &Map<String, Value>) -> bool {
    let types = given_types(schema);
    let is_object = types.iter().all(|name| matches!(*name, "object" | "null"));
    let is_map = schema.get("additionalProperties").is_some_and(Value::is_object);
    let others = ["$ref", "const", "enum", "patternProperties"];
    let has_others = others.iter().chain(&COMBINING).any(|keyword| schema.contains_key(*keyword));
    properties(schema).is_some() && is_object && !is_map && !has_others
}

/// Returns whether no value is valid for both schemas, by their types or their listed values.
pub(super) fn are_apart(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let (types, others) = (types(one), types(other));
    let is_shared = |name: &&str| is_in(name, &others) || (**name == *"number" && others.contains("integer"));
    if !types.iter().any(is_shared) {
        return true;
    }
    match (values(one), values(other)) {
        // Equal numbers may have different forms.
        (Some(one), Some(other)) => one.iter().all(|value| value.is_string() && !other.contains(value)),
        _ => false,
    }
}

/// Returns the properties of a schema, if it has any.
pub(super) fn properties(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty())
}

pub(super) fn required(schema: &Map<String, Value>) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

pub(super) fn list_values<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
}
