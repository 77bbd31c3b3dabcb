//! Each construct of an earlier draft has its words in draft 2020-12.

use serde_json::{Value, json};

use super::modern_schema;

fn of_property(schema: &Value) -> Value {
    let whole = json!({ "type": "object", "properties": { "p": schema }, "additionalProperties": false });
    let modern = modern_schema(&whole);
    assert_eq!(modern["additionalProperties"], false);
    assert_eq!(modern_schema(&modern), modern, "a second conversion changes nothing");
    modern["properties"]["p"].clone()
}

#[test]
fn a_schema_that_is_true_or_false_is_an_object() {
    for (schema, expected) in [
        (json!(true), json!({})),
        (json!(false), json!({"not": {}})),
        (json!({"type": "array", "items": true}), json!({"type": "array", "items": {}})),
        (json!({"anyOf": [true, {"not": false}]}), json!({"anyOf": [{}, {"not": {"not": {}}}]})),
        (json!({"patternProperties": {"a": true}}), json!({"patternProperties": {"a": {}}})),
        (
            json!({"const": true, "default": false, "enum": [true]}),
            json!({"const": true, "default": false, "enum": [true]}),
        ),
        (json!({"prefixItems": [true], "items": false}), json!({"prefixItems": [{}], "items": false})),
    ] {
        assert_eq!(of_property(&schema), expected, "{schema}");
    }
}

#[test]
fn words_of_earlier_drafts_are_converted_by_their_form() {
    let text = json!({"type": "string"});
    for (schema, expected) in [
        (json!({"items": [text, true]}), json!({"prefixItems": [text, {}]})),
        (json!({"items": [text], "additionalItems": false}), json!({"prefixItems": [text], "items": false})),
        (json!({"minimum": 1, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 1})),
        (json!({"maximum": 1, "exclusiveMaximum": false}), json!({"maximum": 1})),
        (json!({"exclusiveMinimum": 1}), json!({"exclusiveMinimum": 1})),
        (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
        (json!({"$ref": "#", "nullable": true}), json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]})),
        (
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
        ),
    ] {
        assert_eq!(of_property(&schema), expected, "{schema}");
    }
}

#[test]
fn a_property_with_the_name_of_a_keyword_is_a_property() {
    let schema = json!({"type": "object", "properties": {"nullable": true, "id": {"type": "string"}, "$ref": {}}});
    let modern = modern_schema(&schema);
    assert_eq!(modern["properties"], json!({"nullable": {}, "id": {"type": "string"}, "$ref": {}}));
}

#[test]
fn beside_a_reference_earlier_drafts_ignore_keywords() {
    let schema = |draft: &str| {
        json!({
            "$schema": draft, "type": "object", "properties": {"p": {"$ref": "#/definitions/A", "minLength": 3}},
            "definitions": {"A": {"type": "string"}},
        })
    };
    let of = |draft: &str| modern_schema(&schema(draft))["properties"]["p"].clone();
    assert_eq!(of("http://json-schema.org/draft-07/schema#"), json!({"$ref": "#/definitions/A"}));
    let kept = json!({"$ref": "#/definitions/A", "minLength": 3});
    assert_eq!(of("https://json-schema.org/draft/2020-12/schema"), kept);
}

fn references(schema: &Value, names: &[&str]) -> Vec<String> {
    let modern = modern_schema(schema);
    names.iter().map(|name| modern["properties"][*name]["$ref"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_name_on_the_way_of_a_reference_may_be_that_of_a_keyword() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {
            "a": {"$ref": "#/definitions/dependencies"},
            "b": {"$ref": "#/definitions/dependencies/dependencies/items"},
            "c": {"$ref": "#/definitions/properties/items/0"},
            "dependencies": {"$ref": "#/properties/items"},
            "items": {"$ref": "#/properties/dependencies"},
        },
        "definitions": {
            "dependencies": {"dependencies": {"items": {"minProperties": 2}}},
            "properties": {"items": [{"type": "string"}]},
        },
    });
    let found = references(&schema, &["a", "b", "c", "dependencies", "items"]);
    let expected = [
        "#/definitions/dependencies",
        "#/definitions/dependencies/dependentSchemas/items",
        "#/definitions/properties/prefixItems/0",
        "#/properties/items",
        "#/properties/dependencies",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_path_below_a_part_with_a_uri_is_from_there_or_else_from_the_root() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {
            "own": {"$id": "part/a", "definitions": {"A": {}}, "$ref": "#/definitions/A"},
            "all": {"$id": "part/b", "allOf": [{"$ref": "#/definitions/A"}]},
            "both": {"$id": "part/c", "definitions": {"A": {}}, "allOf": [{"$ref": "#/definitions/A"}]},
            "none": {"$id": "part/d", "allOf": [{"$ref": "#/definitions/B"}]},
        },
        "definitions": {"A": {"type": "string"}},
    });
    let modern = modern_schema(&schema);
    let of = |name: &str| modern["properties"][name]["allOf"][0]["$ref"].clone();
    assert_eq!(modern["properties"]["own"]["$ref"], "#/definitions/A", "beside a reference, a name has no meaning");
    assert_eq!(of("all"), "#/definitions/A");
    assert_eq!(of("both"), "#/properties/both/definitions/A");
    assert_eq!(of("none"), "#/properties/none/definitions/B", "it leads nowhere");
}
