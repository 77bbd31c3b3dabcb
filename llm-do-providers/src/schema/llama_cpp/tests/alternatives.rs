//! Alternatives, and what is left of each.

use serde_json::{Value, json};

use super::{anything, form, of_property, refusal};

#[test]
fn alternatives_include_the_keywords_beside_them() {
    let schema = json!({
        "type": "object", "description": "Either.", "properties": {"n": {"type": "string"}}, "required": ["n"],
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"]},
        ],
    });
    let with = |name: &str| {
        let properties = json!({"n": {"type": "string"}, name: {"type": "null"}});
        json!({"type": "object", "properties": properties, "required": ["n", name]})
    };
    assert_eq!(of_property(&schema), json!({"anyOf": [with("a"), with("b")], "description": "Either."}));
}

#[test]
fn an_alternative_without_values_is_dropped_and_an_unsupported_one_is_refused() {
    let beside = |alternative: Value| json!({"type": "object", "properties": {"n": {"type": "null"}}, "anyOf": [{"minProperties": 1}, alternative]});
    let form = of_property(&beside(json!({"type": "string"})));
    assert_eq!(form, json!({"type": "object", "properties": {"n": {"type": "null"}}, "minProperties": 1}));
    let text = refusal(&beside(json!({"dependentRequired": {}})));
    assert!(text.starts_with("`#/properties/p/anyOf/1` uses `dependentRequired`"), "{text}");
}

#[test]
fn an_alternative_can_do_without_a_property_that_has_no_values() {
    let either = |rest: &Value| {
        json!({"type": "object", "anyOf": [
            {"properties": {"a": {"type": "string"}, "b": false}, "required": ["a"], "additionalProperties": rest},
            {"properties": {"b": {"type": "string"}}, "required": ["b"]},
        ]})
    };
    let b = json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]});
    let a = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false, "required": ["a"]
    });
    assert_eq!(of_property(&either(&json!(false))), json!({"anyOf": [a, b]}));
    let mut open = either(&json!(null));
    open["anyOf"][0].as_object_mut().unwrap().remove("additionalProperties");
    assert_eq!(of_property(&open), json!({"anyOf": [a, b]}));
    let requiring = json!({"type": "object", "properties": {"a": false}, "required": ["b"]});
    let requires = json!({
        "type": "object", "properties": {"b": anything()}, "required": ["b"], "additionalProperties": false
    });
    assert_eq!(of_property(&requiring), requires);
    // The grammar would allow any of the alternatives.
    let text = refusal(&either(&json!({"type": "null"})));
    assert!(text.starts_with("`#/properties/p/anyOf/0/properties/b` allows no value"), "{text}");
}

#[test]
fn an_alternative_may_be_left_of_which_a_part_is_not() {
    let beside = |own: Value, alternative: Value| {
        let mut schema = own;
        schema["anyOf"] = json!([{"type": "boolean"}, alternative]);
        schema
    };
    for (own, alternative, path) in [
        // A list of none.
        (json!({"items": {"type": "null"}}), json!({"type": "array", "items": {"const": 1}}), "/items"),
        (json!({"items": {}}), json!({"type": ["array", "null"], "minItems": 2, "maxItems": 1}), ""),
        (json!({"required": ["a"]}), json!({"type": ["object", "null"], "properties": {"a": false}}), "/properties/a"),
        (
            json!({"required": ["a"]}),
            json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false}),
            "",
        ),
    ] {
        let text = refusal(&beside(own, alternative));
        assert!(text.starts_with(&format!("`#/properties/p/anyOf/1{path}` ")), "{text}");
    }
}

#[test]
fn what_refers_to_a_definition_without_values_is_left_out_each_time() {
    let schema = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"a": {"$ref": "#/$defs/N"}, "b": {"type": "null"}, "c": {"$ref": "#/$defs/N"}},
        "$defs": {"N": {"type": "object", "properties": {"m": {"$ref": "#/$defs/M"}, "n": false}, "required": ["n"]},
                  "M": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}},
    });
    let expected = json!({"type": "object", "additionalProperties": false, "properties": {"b": {"type": "null"}}});
    assert_eq!(form(&schema), expected);
}

#[test]
fn alternatives_beside_alternatives_are_those_of_both() {
    let tag =
        |name: &str, value: &str| json!({"type": "object", "properties": {name: {"const": value}}, "required": [name]});
    let set = |name: &str| json!({"oneOf": [tag(name, "x"), tag(name, "y")]});
    let form = of_property(&json!({"type": "object", "allOf": [set("a"), set("b")]}));
    let both = |a: &str, b: &str| {
        let properties = json!({"a": {"const": a}, "b": {"const": b}});
        json!({"type": "object", "properties": properties, "required": ["a", "b"]})
    };
    assert_eq!(form, json!({"anyOf": [both("x", "x"), both("x", "y"), both("y", "x"), both("y", "y")]}));
}
