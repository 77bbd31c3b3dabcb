//! Small schemas and values that tests use to check that a dialect keeps their meaning.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Returns schemas of objects that combine keywords of all kinds, some of which exclude each other.
pub(crate) fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec![json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "null"})]),
        2 => prop::sample::select(vec![json!({"type": "string", "const": "x"}), json!({"type": "integer", "enum": [1, 2]})]),
        1 => any::<bool>().prop_map(Value::from),
        1 => prop::sample::select(vec![json!({"$ref": "#/$defs/N"}), json!({"$ref": "#/$defs/All"})]),
    ];
    leaf.prop_recursive(4, 24, 3, |part| {
        prop_oneof![
            3 => object(part.clone()),
            1 => part.clone().prop_map(|items| json!({"type": "array", "items": items})),
            2 => (object(part.clone()), prop::collection::vec(part.clone(), 1..3)).prop_map(|(mut whole, parts)| {
                whole["anyOf"] = Value::Array(parts);
                whole
            }),
            2 => prop::collection::vec(part, 1..3).prop_map(|parts| json!({ "allOf": parts })),
        ]
    })
    .prop_map(|part| {
        json!({
            "type": "object", "properties": {"p": part}, "required": ["p"], "additionalProperties": false,
            "$defs": {"N": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, "All": true},
        })
    })
}

fn object(part: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    let properties = prop::collection::vec((name.clone(), part), 0..3);
    (properties, prop::collection::btree_set(name, 0..2), any::<bool>()).prop_map(
        |(properties, required, is_closed)| {
            let properties: Map<_, _> = properties.into_iter().map(|(name, part)| (name.to_owned(), part)).collect();
            let mut object = json!({"type": "object", "properties": properties, "required": required});
            if is_closed {
                object["additionalProperties"] = json!(false);
            }
            object
        },
    )
}

/// Returns values that such schemas may allow.
pub(crate) fn values() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![json!(null), json!("x"), json!("y"), json!(1), json!(3)]);
    let value = leaf.prop_recursive(3, 12, 3, |value| {
        let name = prop::sample::select(vec!["a", "b", "c", "d"]);
        prop_oneof![
            4 => prop::collection::btree_map(name, value.clone(), 0..3).prop_map(|fields| json!(fields)),
            1 => prop::collection::vec(value, 0..2).prop_map(Value::from),
        ]
    });
    value.prop_map(|value| json!({ "p": value }))
}

/// Returns a schema that refers twice to the definition of the next level.
pub(crate) fn parts(level: usize) -> Value {
    let next = json!({ "$ref": format!("#/$defs/D{}", level + 1) });
    json!({"allOf": [next, next], "properties": {format!("p{level}"): {"type": "integer"}}})
}

/// Returns thirty nested levels.
pub(crate) fn definitions() -> Map<String, Value> {
    let mut definitions: Map<_, _> = (0..30).map(|level| (format!("D{level}"), parts(level))).collect();
    definitions.insert("D30".to_owned(), json!({"type": "object"}));
    definitions
}

/// Returns a form whose objects may have further properties: llama.cpp's grammar allows only the declared ones.
#[cfg(feature = "openai")]
pub(crate) fn opened(form: &Value) -> Value {
    match form {
        Value::Object(keywords) => {
            let kept = keywords.iter().filter(|(key, value)| *key != "additionalProperties" || **value != json!(false));
            kept.map(|(key, value)| (key.clone(), opened(value))).collect()
        }
        Value::Array(parts) => parts.iter().map(opened).collect(),
        other => other.clone(),
    }
}
