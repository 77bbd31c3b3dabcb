use serde_json::{Value, json};

use super::strict_form;

fn of_property(schema: &Value) -> Option<Value> {
    let schema = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
    strict_form(&schema).map(|schema| schema["properties"]["p"].clone())
}

#[test]
fn an_object_with_all_properties_required_is_closed() {
    let schema = json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]});
    let closed = json!({
        "type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false
    });
    assert_eq!(strict_form(&schema), Some(closed));
}

#[test]
fn an_optional_property_is_required_if_it_may_be_null() {
    let schema = json!({"type": "object", "properties": {"b": {"type": ["string", "null"]}}});
    assert_eq!(strict_form(&schema).unwrap()["required"], json!(["b"]));
    let schema = json!({"type": "object", "properties": {"b": {"type": "string"}}});
    assert_eq!(strict_form(&schema), None);
}

#[test]
fn a_map_has_no_strict_form() {
    assert_eq!(of_property(&json!({"type": "object", "additionalProperties": {"type": "string"}})), None);
}

#[test]
fn an_unknown_keyword_has_no_strict_form() {
    for schema in [json!({"allOf": []}), json!({"type": "string", "minLength": 1}), json!(true), json!({"items": 1})] {
        assert_eq!(of_property(&schema), None, "{schema}");
    }
}

#[test]
fn a_schema_of_anything_has_no_strict_form() {
    for schema in [json!({}), json!({"description": "any"}), json!({"type": "array"}), json!({"type": ["array"]})] {
        assert_eq!(of_property(&schema), None, "{schema}");
    }
}

#[test]
fn an_object_that_may_be_null_is_closed_too() {
    let schema = json!({"type": ["object", "null"], "properties": {"a": {"type": "null"}}, "required": ["a"]});
    assert_eq!(of_property(&schema).unwrap()["additionalProperties"], json!(false));
    let map = json!({"type": ["object", "null"], "additionalProperties": {"type": "string"}});
    assert_eq!(of_property(&map), None);
}

#[test]
fn variants_that_exclude_each_other_are_alternatives() {
    let tag = |name: &str| json!({"type": "string", "const": name});
    let open = |name: &str| json!({"type": "object", "properties": {"tag": tag(name)}, "required": ["tag"]});
    let closed = |name: &str| {
        let properties = json!({name: {"type": "null"}});
        json!({"type": "object", "properties": properties, "required": [name], "additionalProperties": false})
    };
    let text = json!({"type": "string"});
    for variants in [[tag("a"), tag("b")], [open("a"), open("b")], [closed("a"), closed("b")], [tag("a"), open("b")]] {
        let form = of_property(&json!({ "oneOf": variants })).unwrap_or_else(|| panic!("{variants:?}"));
        assert_eq!(form["anyOf"].as_array().unwrap().len(), 2);
    }
    let number = |kind: &str| json!({ "type": kind });
    let pairs = [[tag("a"), tag("a")], [tag("a"), text], [open("a"), open("a")], [number("integer"), number("number")]];
    for variants in pairs {
        assert_eq!(of_property(&json!({ "oneOf": variants })), None, "{variants:?}");
    }
}

#[test]
fn descriptions_for_the_model_stay() {
    let schema = json!({"type": "integer", "format": "uint8", "default": 1, "minimum": 0});
    let expected = json!({"type": "integer", "minimum": 0, "description": "Default: 1."});
    assert_eq!(of_property(&schema), Some(expected));
    let schema = json!({"type": "string", "description": "Who", "examples": ["a", "b"], "deprecated": true});
    let expected = json!({"type": "string", "description": r#"Who. Examples: "a", "b". Deprecated."#});
    assert_eq!(of_property(&schema), Some(expected));
    let schema = json!({"type": ["string", "null"], "format": "uri"});
    assert_eq!(of_property(&schema), Some(json!({"type": ["string", "null"], "description": "Format: uri."})));
    let schema = json!({"type": "string", "format": "date"});
    assert_eq!(of_property(&schema), Some(schema));
}

#[test]
fn a_description_beside_a_reference_goes_into_a_definition() {
    let sum = json!({"description": "A sum.", "anyOf": [{"type": "integer"}, {"$ref": "#/$defs/Sum", "description": "One more."}]});
    let schema = json!({
        "type": "object", "required": ["a", "b", "c"],
        "properties": {
            "a": {"$ref": "#/$defs/Sum", "description": "Which"},
            "b": {"$ref": "#/$defs/Sum"},
            "c": {"$ref": "#/$defs/Sum", "description": "Which"},
        },
        "$defs": {"Sum": sum, "Map": {"type": "object"}},
    });
    let strict = strict_form(&schema).unwrap();
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    assert_eq!(strict["properties"], json!({"a": reference("Sum"), "b": reference("Sum-3"), "c": reference("Sum")}));
    // It is recursive, with a description each time.
    let sum = |text: &str| json!({"description": format!("{text}A sum."), "anyOf": [{"type": "integer"}, reference("Sum-2")]});
    assert_eq!(strict["$defs"], json!({"Sum-2": sum("One more. "), "Sum": sum("Which. "), "Sum-3": sum("")}));
}

#[test]
fn a_definition_may_have_any_name() {
    let schema = json!({
        "type": "object", "properties": {"p": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}}, "required": ["p"],
        "$defs": {"Größe": {"type": "integer"}},
    });
    let strict = strict_form(&schema).unwrap();
    assert_eq!(strict["properties"]["p"], json!({"$ref": "#/$defs/Gre"}));
    assert_eq!(strict["$defs"], json!({"Gre": {"type": "integer"}}));
}

#[test]
fn a_reference_to_what_has_no_strict_form_has_none() {
    for definition in [json!(true), json!({"type": "object"}), json!({"type": "array"})] {
        let schema = json!({
            "type": "object", "properties": {"p": {"$ref": "#/$defs/A"}}, "required": ["p"], "$defs": {"A": definition},
        });
        assert_eq!(strict_form(&schema), None, "{schema}");
    }
    assert_eq!(of_property(&json!({"$ref": "#/$defs/Nothing"})), None);
}

#[test]
fn an_object_of_anything_has_no_strict_form() {
    let required = json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "b"]});
    for schema in [json!({"type": "object"}), json!({"type": ["object", "null"]}), required] {
        assert_eq!(of_property(&schema), None, "{schema}");
    }
    let empty = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    assert_eq!(of_property(&json!({"type": "object", "properties": {}})), Some(empty.clone()));
    assert_eq!(of_property(&json!({"type": "object", "additionalProperties": false})), Some(empty));
}

#[test]
fn nested_objects_are_closed_too() {
    let inner = json!({"type": "object", "properties": {}});
    let schema = json!({"type": "array", "items": {"anyOf": [inner, {"type": "null"}]}});
    let strict = of_property(&schema).unwrap();
    assert_eq!(strict["items"]["anyOf"][0]["additionalProperties"], json!(false));
}

#[test]
fn a_root_that_is_not_an_object_has_no_strict_form() {
    for schema in [json!({"type": "string"}), json!({"anyOf": []}), json!(true)] {
        assert_eq!(strict_form(&schema), None, "{schema}");
    }
}
