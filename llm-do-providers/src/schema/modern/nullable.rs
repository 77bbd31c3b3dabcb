//! `nullable` of OpenAPI 3.0, which many programs write in JSON schemas.

use serde_json::{Map, Value, json};

/// Adds null to the values of a schema, as `nullable` of OpenAPI does.
pub(super) fn with_null(mut schema: Map<String, Value>) -> Map<String, Value> {
    let none = json!("null");
    let is_plain = !["$ref", "allOf", "anyOf", "oneOf", "const"].iter().any(|key| schema.contains_key(*key));
    match schema.get_mut("type") {
        Some(Value::Array(kinds)) if is_plain => {
            if !kinds.contains(&none) {
                kinds.push(none);
            }
        }
        Some(kind) if is_plain => *kind = json!([kind, none]),
        _ => {
            let description = schema.shift_remove("description");
            let mut either = Map::from_iter([("anyOf".to_owned(), json!([schema, { "type": "null" }]))]);
            either.extend(description.map(|description| ("description".to_owned(), description)));
            return either;
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema
}
