//! Alternatives, and what is left of each.

use serde_json::{Value, json};

use super::{of_property, refusal};
use crate::schema::gemini::translate;

#[test]
fn variants_become_alternatives() {
    let variants = json!([
        {"type": "string", "const": "a", "description": "First."},
        {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"], "additionalProperties": false}
    ]);
    let form = json!({
        "anyOf": [
            {"type": "string", "enum": ["a"], "description": "First."},
            {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b"], "additionalProperties": false}
        ],
        "description": "Which."
    });
    assert_eq!(of_property(&json!({"oneOf": variants, "description": "Which."})), form);
}

#[test]
fn what_stands_beside_alternatives_goes_into_each() {
    let schema = json!({
        "type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "description": "Tagged.",
        "oneOf": [
            {"type": "object", "properties": {"kind": {"type": "string", "const": "wait"}}, "required": ["kind"]},
            {"$ref": "#/$defs/Go", "properties": {"kind": {"type": "string", "const": "go"}}, "required": ["kind"]}
        ],
        "$defs": {"Go": {"type": "object", "properties": {"far": {"type": "boolean"}}, "required": ["far"]}}
    });
    let kind = |name: &str| json!({"type": "string", "enum": [name]});
    let wait = json!({
        "type": "object", "required": ["id", "kind"], "properties": {"id": {"type": "integer"}, "kind": kind("wait")}
    });
    let go = json!({
        "type": "object", "required": ["id", "kind", "far"],
        "properties": {"id": {"type": "integer"}, "kind": kind("go"), "far": {"type": "boolean"}}
    });
    let form = translate(&schema).unwrap();
    assert_eq!(form["anyOf"], json!([wait, go]));
    // The root itself is an object, as the arguments of a function are.
    assert_eq!((&form["type"], &form["required"]), (&json!("object"), &json!(["id", "kind"])));
    assert_eq!(form["properties"]["kind"], json!({"anyOf": [kind("wait"), kind("go")]}));
    assert_eq!(form["description"], "Tagged.");
}

#[test]
fn an_object_without_a_property_is_closed_or_described_as_such() {
    let object = |rest: Value| json!({"type": "object", "properties": {"a": {"type": "null"}, "b": false}, "additionalProperties": rest});
    let closed = json!({"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": false});
    assert_eq!(of_property(&object(json!(false))), closed);
    let open = json!({"type": "object", "properties": {"a": {"type": "null"}}, "description": "Has no property `b`."});
    assert_eq!(of_property(&object(json!(true))), open);
    // One of two parts does not mention the property.
    let all = json!({"allOf": [object(json!(true)), {"type": "object", "properties": {"b": {"type": "null"}}}]});
    assert_eq!(of_property(&all), open);
}

#[test]
fn an_alternative_can_do_without_a_property_that_has_no_values() {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "anyOf": [
        {"properties": {"a": text, "b": {"allOf": [text, {"type": "null"}]}}, "required": ["a"], "additionalProperties": false},
        {"properties": {"b": text}, "required": ["b"]},
    ]});
    let a = json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false});
    let b = json!({"type": "object", "properties": {"b": text}, "required": ["b"]});
    assert_eq!(of_property(&schema), json!({"anyOf": [a, b]}));
}

#[test]
fn of_several_types_those_go_that_have_no_values() {
    let schema = json!({"type": ["object", "string"], "properties": {"a": false}, "required": ["a"]});
    assert_eq!(of_property(&schema), json!({"type": "string"}));
}

#[test]
fn alternatives_beside_alternatives_are_those_of_both() {
    let tag = |name: &str, value: &str| {
        let tag = json!({"type": "string", "const": value});
        json!({"type": "object", "properties": {name: tag}, "required": [name], "description": format!("{value}.")})
    };
    let set = |name: &str| json!({"oneOf": [tag(name, "x"), tag(name, "y")]});
    let schema = json!({"type": "object", "allOf": [set("a"), {"anyOf": [{"$ref": "#/$defs/B"}, true]}], "$defs": {"B": set("b")}});
    let form = translate(&schema).unwrap();
    let tags = |form: &Value| {
        ["a", "b"].map(|name| form["properties"][name]["enum"][0].as_str().unwrap_or("-").to_owned()).concat()
    };
    let all: Vec<_> = form["anyOf"].as_array().unwrap().iter().map(tags).collect();
    assert_eq!((all.join(" "), &form["type"]), ("xx xy x- yx yy y-".to_owned(), &json!("object")));
    assert_eq!(form["anyOf"][1]["description"], "x. y.");
}

#[test]
fn many_alternatives_next_to_other_alternatives_are_refused() {
    let set = |name: usize| {
        let tag = |value: usize| json!({"properties": {format!("p{name}"): {"type": "integer", "const": value}}});
        json!({"oneOf": (0..10).map(tag).collect::<Vec<_>>()})
    };
    let text = refusal(&json!({"type": "object", "allOf": (0..6).map(set).collect::<Vec<_>>()}), &json!({}));
    assert!(text.contains("is part of a schema with more than 10000 subschemas"), "{text}");
    let any = |count: usize| json!({"anyOf": vec![true; count]});
    let text = refusal(&json!({"type": "object", "allOf": (1..12).map(any).collect::<Vec<_>>()}), &json!({}));
    assert!(text.contains("is part of a schema with more than 10000 subschemas"), "{text}");
}
