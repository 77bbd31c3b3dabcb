//! Finds the subschemas of a schema, and not values that only look like one, such as defaults, examples or property names.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Keywords whose value is a schema or a list of schemas.
const SCHEMAS: [&str; 16] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
    "contentSchema",
];
/// Keywords whose value is a map of schemas.
const MAPS: [&str; 5] = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// Returns `schema` and every schema in it.
#[must_use]
pub fn subschemas(schema: &Value) -> Vec<&Value> {
    let mut found = vec![schema];
    for (key, value) in schema.as_object().into_iter().flatten() {
        match value {
            Value::Object(named) if MAPS.contains(&&**key) => found.extend(named.values().flat_map(subschemas)),
            Value::Array(listed) if SCHEMAS.contains(&&**key) => found.extend(listed.iter().flat_map(subschemas)),
            value if SCHEMAS.contains(&&**key) => found.extend(subschemas(value)),
            _ => {}
        }
    }
    found
}

/// Returns the targets of the references in `schema`, as JSON pointers.
///
/// # Panics
///
/// Panics if a reference points outside of the schema.
#[must_use]
pub fn references(schema: &Value) -> Vec<String> {
    let references = subschemas(schema).into_iter().filter_map(|part| part.get("$ref"));
    let pointers = references.map(|reference| {
        let fragment = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        percent_decode_str(fragment.expect("a reference within the schema")).decode_utf8_lossy().into_owned()
    });
    pointers.collect()
}
