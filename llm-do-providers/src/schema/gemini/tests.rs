mod alternatives;
mod meaning;

use serde_json::{Value, json};

use super::translate;
use crate::schema::samples;

/// What becomes of the schema of a property.
fn of_property(schema: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
    translate(&schema).unwrap()["properties"]["p"].clone()
}

/// Why the schema of a property is refused.
fn refusal(schema: &Value, defs: &Value) -> String {
    let schema = json!({"type": "object", "properties": {"p": schema}, "required": ["p"], "$defs": defs});
    translate(&schema).unwrap_err().to_string()
}

#[test]
fn what_the_dialect_knows_stays_in_its_order() {
    let schema = json!({
        "type": "object",
        "properties": {
            "b": {"type": ["string", "null"], "format": "date-time", "description": "When."},
            "a": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}, "minItems": 1},
            "t": {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "number"}], "minItems": 2, "maxItems": 2}
        },
        "required": ["b"],
        "additionalProperties": false
    });
    assert_eq!(translate(&schema).unwrap().to_string(), schema.to_string());
}

#[test]
fn references_are_written_out_with_what_stands_beside_them() {
    let schema = json!({
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/Point", "description": "Where to."}, "q": {"$ref": "#/$defs/Point"}},
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "description": "A point."}}
    });
    let point = |text: &str| json!({"type": "object", "properties": {"x": {"type": "integer"}}, "description": text});
    let form = translate(&schema).unwrap();
    assert_eq!(form["properties"], json!({"p": point("Where to. A point."), "q": point("A point.")}));
    assert_eq!(form.get("$defs"), None);
}

#[test]
fn a_schema_within_itself_keeps_its_reference_behind_an_optional_property() {
    let tree = json!({
        "type": "object", "required": ["name", "children"],
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            "parent": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}], "description": "Above."},
            "twin": {"$ref": "#/$defs/Tree", "description": "Beside."}
        }
    });
    let schema = json!({
        "type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "required": ["t"], "$defs": {"Tree": tree}
    });
    let form = translate(&schema).unwrap();
    let written = json!({
        "type": "object", "required": ["name"], "description": "Always has `children`.",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            "parent": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}], "description": "Above."},
            "twin": {"anyOf": [{"$ref": "#/$defs/Tree"}], "description": "Beside."}
        }
    });
    assert_eq!(form["properties"]["t"], written);
    assert_eq!(form["required"], json!(["t"]), "the reference stands in an optional property of it");
    assert_eq!(form["$defs"], json!({ "Tree": written }));
}

#[test]
fn schemas_within_each_other_and_the_whole_keep_their_references() {
    let defs = json!({
        "A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
        "B": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "all": {"$ref": "#"}}, "required": ["all"]}
    });
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": defs});
    let form = translate(&schema).unwrap();
    let names: Vec<_> = form["$defs"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["Whole", "A"]);
    let b = &form["properties"]["a"]["properties"]["b"];
    let expected = json!({
        "type": "object", "description": "Always has `all`.",
        "properties": {"a": {"$ref": "#/$defs/A"}, "all": {"$ref": "#/$defs/Whole"}}
    });
    assert_eq!(*b, expected);
}

#[test]
fn parts_that_share_a_part_are_put_together() {
    let part = |name: &str| json!({"allOf": [{"$ref": "#/$defs/Base"}], "properties": {name: {"$ref": "#/$defs/Id"}}});
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
        "$defs": {
            "A": part("a"), "B": part("b"), "Id": {"type": "integer", "minimum": 1},
            "Base": {
                "type": "object", "required": ["id"],
                "properties": {"id": {"anyOf": [{"$ref": "#/$defs/Id"}, {"type": "string"}]}},
            },
        },
    });
    let form = translate(&schema).unwrap();
    let id = json!({"type": "integer", "minimum": 1});
    let expected = json!({"a": id, "id": {"anyOf": [id, {"type": "string"}]}, "b": id});
    assert_eq!((&form["properties"], &form["required"]), (&expected, &json!(["id"])));
}

#[test]
fn what_stands_beside_a_reference_is_not_within_it() {
    let schema = json!({"allOf": [{"$ref": "#/$defs/Person"}], "properties": {"manager": {"$ref": "#/$defs/Person"}}});
    let person = |more: Value| {
        let mut person = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        person["properties"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "Person": person })
    };
    let whole = json!({"type": "object", "properties": {"p": schema}, "$defs": person(json!({}))});
    let name = json!({"type": "string"});
    let manager = json!({"type": "object", "properties": {"name": name}});
    assert_eq!(translate(&whole).unwrap()["properties"]["p"]["properties"], json!({"manager": manager, "name": name}));

    for holder in ["manager", "boss"] {
        let defs = person(json!({ holder: {"$ref": "#/$defs/Person"} }));
        let whole = json!({"type": "object", "properties": {"p": schema}, "$defs": defs});
        let form = translate(&whole).unwrap();
        let inner = &form["properties"]["p"]["properties"]["manager"]["properties"][holder];
        assert_eq!(*inner, json!({"$ref": "#/$defs/Person"}), "{form:#}");
    }
}

#[test]
fn a_part_of_itself_is_refused() {
    let defs = json!({"A": {"allOf": [{"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}});
    let text = refusal(&json!({"$ref": "#/$defs/A"}), &defs);
    assert!(text.starts_with("`#/properties/p` is recursive through `#/$defs/A`"), "{text}");
}

#[test]
fn a_listed_value_that_looks_like_a_reference_is_kept() {
    let values = |to: &str| json!({"enum": [{"$ref": to}]});
    let schema = json!({"allOf": [values("a"), values("b")]});
    assert!(refusal(&schema, &json!({})).contains("has two different values for `enum`"));
    assert_eq!(of_property(&values("a"))["description"], r#"Always {"$ref":"a"}."#);
}

#[test]
fn a_reference_to_nothing_is_refused() {
    let text = refusal(&json!({"$ref": "#/$defs/Tree"}), &json!({}));
    assert_eq!(text, "`#/properties/p` refers to `#/$defs/Tree`, which is not a schema in this document");
}

#[test]
fn references_that_multiply_are_refused() {
    let pair = |name: &str| json!({"type": "object", "properties": {"l": {"$ref": name}, "r": {"$ref": name}}});
    let defs: serde_json::Map<_, _> =
        (0..30).map(|level| (format!("D{level}"), pair(&format!("#/$defs/D{}", level + 1)))).collect();
    let mut defs = Value::Object(defs);
    defs["D30"] = json!({"type": "integer"});
    let text = refusal(&json!({"$ref": "#/$defs/D0"}), &defs);
    assert!(text.contains("is part of a schema with more than 10000 subschemas"), "{text}");
}

#[test]
fn parts_that_multiply_are_refused() {
    let text = refusal(&json!({"$ref": "#/$defs/D0"}), &samples::definitions().into());
    assert!(text.starts_with("`#/properties/p` is part of a schema with more than 10000 subschemas"), "{text}");
}

#[test]
fn several_types_become_alternatives_with_their_own_keywords() {
    let schema = json!({"type": ["string", "array", "null"], "maxLength": 3, "items": {"type": "integer"}});
    let form = json!({"anyOf": [
        {"type": "string", "description": "Length: at most 3."},
        {"type": "array", "items": {"type": "integer"}},
        {"type": "null"}
    ]});
    assert_eq!(of_property(&schema), form);
}

#[test]
fn values_are_listed_where_gemini_lists_them() {
    assert_eq!(of_property(&json!({"const": "a"})), json!({"type": "string", "enum": ["a"]}));
    assert_eq!(of_property(&json!({"enum": [1, 2]})), json!({"type": "integer", "enum": [1, 2]}));
    assert_eq!(of_property(&json!({"const": 0.5})), json!({"type": "number", "enum": [0.5]}));
    assert_eq!(of_property(&json!({"const": null})), json!({"type": "null"}));
    let nullable = json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]});
    assert_eq!(of_property(&json!({"enum": ["a", null]})), nullable);
    let only = |values: &Value, text: &str| {
        assert_eq!(of_property(&json!({ "enum": values }))["description"], text);
    };
    only(&json!([true]), "Always true.");
    only(&json!(["", "a"]), "One of: \"\", \"a\".");
    only(&json!([[1], {}]), "One of: [1], {}.");
}

#[test]
fn what_gemini_has_no_keyword_for_is_described() {
    let cases = [
        (json!({"type": "string", "pattern": "^a$"}), "Matches the regular expression `^a$`."),
        (json!({"type": "string", "minLength": 1, "maxLength": 2}), "Length: at least 1. Length: at most 2."),
        (json!({"type": "string", "format": "uuid", "description": "Which"}), "Which. Format: uuid."),
        (json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}), "More than 0. A multiple of 0.5."),
        (json!({"type": "array", "items": true, "uniqueItems": true}), "No two items are equal."),
        (json!({"type": "integer", "default": 3, "examples": [4, 5]}), "Default: 3. Examples: 4, 5."),
        (json!({"type": "integer", "not": {"const": 0}}), "Not 0."),
        (json!({"type": "string", "deprecated": true}), "Deprecated."),
        (json!(true), "Any JSON value."),
        (json!({}), "Any JSON value."),
    ];
    for (schema, text) in cases {
        assert_eq!(of_property(&schema)["description"], text, "{schema}");
    }
}

#[test]
fn a_keyword_without_meaning_is_dropped() {
    let schema =
        json!({"type": "integer", "format": "uint8", "minimum": 0, "title": "N", "x-note": 1, "$comment": "c"});
    assert_eq!(of_property(&schema), json!({"type": "integer", "minimum": 0}));
}

#[test]
fn bounds_of_whole_numbers_are_exact() {
    let schema = json!({"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "exclusiveMaximum": 5});
    assert_eq!(of_property(&schema), json!({"type": "integer", "maximum": 4, "minimum": 1}));
}

#[test]
fn a_map_by_pattern_is_a_map_with_a_note() {
    let map =
        json!({"type": "object", "patternProperties": {"^[0-9]+$": {"type": "string"}}, "additionalProperties": false});
    let form = json!({
        "type": "object", "additionalProperties": {"type": "string"},
        "description": "Each property's name matches the regular expression `^[0-9]+$`."
    });
    assert_eq!(of_property(&map), form);
    let open = json!({"type": "object", "patternProperties": {"^[0-9]+$": {"type": "string"}}});
    assert!(refusal(&open, &json!({})).contains("both pattern properties and other properties"));
}

#[test]
fn all_of_is_put_together() {
    let schema = json!({"allOf": [{"type": ["integer", "null"], "minimum": 1}, {"type": "number", "minimum": 2}]});
    assert_eq!(of_property(&schema), json!({"type": "integer", "minimum": 2}));
    let parts = json!({"allOf": [
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "integer", "maximum": 2}, "b": true}, "additionalProperties": false}
    ]});
    let form = json!({
        "type": "object", "required": ["a"],
        "properties": {
            "a": {"type": "integer", "minimum": 1, "maximum": 2}, "b": {"description": "Any JSON value."}
        },
        "additionalProperties": false
    });
    assert_eq!(of_property(&parts), form);
}

#[test]
fn definitions_may_have_any_name_and_any_values() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}, "b": {"$ref": "#/$defs/Payload", "description": "B."}},
        "$defs": {"Größe": {"type": "integer"}, "Payload": true},
    });
    let properties = json!({"a": {"type": "integer"}, "b": {"description": "B."}});
    assert_eq!(translate(&schema).unwrap()["properties"], properties);
    let text = refusal(&json!({"$ref": "#/$defs/No"}), &json!({"No": false}));
    assert_eq!(text, "`#/properties/p` refers to `#/$defs/No`, which allows no value; remove it");
}

#[test]
fn an_unsupported_keyword_is_refused_with_its_path() {
    let cases = [
        (json!({"type": "array", "contains": {"type": "integer"}}), "`#/properties/p` uses `contains`"),
        (json!({"if": {}, "then": {}}), "`#/properties/p` uses `if`"),
        (json!({"not": {"type": "integer"}}), "`#/properties/p` uses `not`"),
        (
            json!({"type": "array", "items": {"type": "object", "properties": {"a": false}, "required": ["a"]}}),
            "`#/properties/p/items/properties/a` allows no value",
        ),
        (
            json!({"allOf": [{"type": "integer"}, {"type": "string"}]}),
            "`#/properties/p` has two different values for `type`",
        ),
        (
            json!({"allOf": [{"pattern": "a"}, {"pattern": "b"}]}),
            "`#/properties/p` has two different values for `pattern`",
        ),
    ];
    for (schema, expected) in cases {
        let text = refusal(&schema, &json!({}));
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn a_list_without_further_items_has_an_end() {
    let pair = json!({"type": "array", "items": false, "prefixItems": [{"type": "null"}, true], "maxItems": 9});
    let form =
        json!({"type": "array", "prefixItems": [{"type": "null"}, {"description": "Any JSON value."}], "maxItems": 2});
    assert_eq!(of_property(&pair), form);
    assert_eq!(of_property(&json!({"type": "array", "items": false}))["maxItems"], 0);
}
