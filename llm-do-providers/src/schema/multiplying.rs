//! A schema whose parts multiply, which the tests of each dialect see refused.

use serde_json::{Map, Value, json};

/// Returns what names the definition of the next level twice.
pub(crate) fn parts(level: usize) -> Value {
    let next = json!({ "$ref": format!("#/$defs/D{}", level + 1) });
    json!({"allOf": [next, next], "properties": {format!("p{level}"): {"type": "integer"}}})
}

/// Returns thirty levels of them.
pub(crate) fn definitions() -> Map<String, Value> {
    let mut definitions: Map<_, _> = (0..30).map(|level| (format!("D{level}"), parts(level))).collect();
    definitions.insert("D30".to_owned(), json!({"type": "object"}));
    definitions
}
