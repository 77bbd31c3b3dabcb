//! Malformed and recursive schemas.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::translate;

#[test]
fn a_schema_that_grows_without_end_is_refused() {
    // Each alternative is merged with the keywords next to it, which doubles the number at each level.
    let alternatives = |level: usize| {
        let next = json!({ "$ref": format!("#/$defs/L{}", level + 1) });
        json!({"type": "object", "properties": {format!("p{level}"): {"const": 1}}, "anyOf": [next, next]})
    };
    let mut levels: Map<_, _> = (0..40).map(|level| (format!("L{level}"), alternatives(level))).collect();
    levels.insert("L40".to_owned(), json!({"type": "object"}));
    let mut schema = alternatives(41);
    schema["anyOf"] = json!([{"$ref": "#/$defs/L0"}]);
    schema["$defs"] = Value::Object(levels);
    let text = translate(&schema).unwrap_err().to_string();
    assert!(text.contains("is part of a schema with more than 10000 subschemas"), "{text}");
}

/// Generates JSON that resembles a schema but is mostly invalid.
fn malformed_schema() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-z^$\\\\d\\[\\](){}*+?|.,0-9]{0,8}",
        prop::sample::select(vec![
            "string",
            "integer",
            "object",
            "array",
            "null",
            "#",
            "#/$defs/a",
            "#/$defs/b",
            "uint8"
        ])
        .prop_map(str::to_owned),
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..5_u8).prop_map(Value::from),
        text.prop_map(Value::from),
        Just(Value::Null),
    ];
    let key = prop::sample::select(vec![
        "$ref",
        "$defs",
        "a",
        "b",
        "type",
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "const",
        "enum",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "minLength",
        "maxLength",
        "description",
        "unevaluatedProperties",
    ]);
    leaf.prop_recursive(5, 64, 5, move |value| {
        prop_oneof![
            1 => prop::collection::vec(value.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((key.clone(), value), 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_has_a_form_or_is_refused_with_a_path(schema in malformed_schema()) {
        if let Err(unsupported) = translate(&schema) {
            prop_assert!(unsupported.to_string().starts_with("`#"), "{}", unsupported);
        }
    }
}
