mod alternatives;
mod meaning;

use serde_json::{Value, json};

use super::translate;
use crate::schema::samples;

/// What becomes of the schema of a property.
fn of_property(schema: &Value) -> Value {
    form(&json!({"type": "object", "properties": {"p": schema}, "required": ["p"]}))["properties"]["p"].clone()
}

fn form(schema: &Value) -> Value {
    translate(schema).unwrap_or_else(|unsupported| panic!("{unsupported}"))
}

/// Why the schema of a property is refused.
fn refusal(schema: &Value) -> String {
    let schema = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
    translate(&schema).unwrap_err().to_string()
}

fn anything() -> Value {
    json!({"type": ["object", "array", "string", "number", "boolean", "null"]})
}

#[test]
fn what_the_grammar_knows_stays_as_it_is() {
    let schema = json!({
        "type": "object",
        "description": "A thing.",
        "properties": {
            "b": {"type": ["string", "null"], "format": "date-time", "description": "When."},
            "a": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}, "minItems": 1},
            "l": {"anyOf": [{"$ref": "#/$defs/Link"}, {"type": "null"}]},
            "k": {"enum": ["x", 1, null], "default": "x"},
        },
        "required": ["b"],
        "additionalProperties": false,
        "$defs": {"Link": {"type": "string", "minLength": 1, "maxLength": 9}},
    });
    assert_eq!(form(&schema).to_string(), schema.to_string());
}

#[test]
fn keywords_that_are_only_described_stay() {
    for keyword in [
        json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        json!({"type": "number", "minimum": 0.5, "multipleOf": 0.5}),
        json!({"type": "string", "format": "email"}),
        json!({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2}),
        json!({"type": "string", "not": {"enum": ["a", "b"]}}),
    ] {
        assert_eq!(of_property(&keyword), keyword);
    }
}

#[test]
fn a_schema_of_anything_names_all_types() {
    for schema in [json!(true), json!({})] {
        assert_eq!(of_property(&schema), anything());
    }
    let described = json!({"description": "Anything.", "default": 1});
    assert_eq!(of_property(&described)["type"], anything()["type"]);
    assert_eq!(of_property(&json!({"type": "array", "items": true}))["items"], anything());
    assert_eq!(of_property(&json!({"type": "array", "maxItems": 2}))["items"], anything());
    let map = json!({"type": "object", "additionalProperties": {}});
    assert_eq!(of_property(&map)["additionalProperties"], anything());
}

#[test]
fn a_required_property_is_a_property() {
    let schema = json!({"type": "object", "required": ["a"], "additionalProperties": {"type": "integer"}});
    assert_eq!(of_property(&schema)["properties"], json!({"a": {"type": "integer"}}));
    let schema = json!({"type": "object", "properties": {"b": {"type": "null"}}, "required": ["a", "b"]});
    assert_eq!(of_property(&schema)["properties"], json!({"b": {"type": "null"}, "a": anything()}));
}

#[test]
fn a_tuple_has_exactly_the_listed_items() {
    let items = json!([{"type": "string"}, {"type": "integer"}]);
    let tuple = json!({"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": items});
    for schema in [
        json!({"type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2}),
        json!({"type": "array", "prefixItems": items, "items": false}),
        json!({"type": "array", "prefixItems": items, "items": {"type": "null"}}),
    ] {
        assert_eq!(of_property(&schema), tuple, "{schema}");
    }
    let text = refusal(&json!({"type": "array", "prefixItems": items, "minItems": 3}));
    assert!(text.starts_with("`#/properties/p` requires more items than `prefixItems` lists"), "{text}");
}

#[test]
fn definitions_may_have_any_name_and_any_values() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}, "b": {"$ref": "#/$defs/Payload"}},
        "$defs": {"Größe": {"type": "integer"}, "Payload": true},
    });
    let form = form(&schema);
    assert_eq!(form["properties"], json!({"a": {"$ref": "#/$defs/Gre"}, "b": {"$ref": "#/$defs/Payload"}}));
    assert_eq!(form["$defs"], json!({"Gre": {"type": "integer"}, "Payload": anything()}));
}

#[test]
fn parts_are_put_together() {
    let all = json!({"allOf": [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"type": "object", "properties": {"b": {"type": "null"}}},
    ]});
    let form = of_property(&all);
    assert_eq!((&form["properties"]["b"], &form["required"]), (&json!({"type": "null"}), &json!(["a"])));
}

#[test]
fn a_reference_with_more_beside_it_is_written_out() {
    let schema = json!({
        "type": "object", "properties": {"p": {"$ref": "#/$defs/N", "maximum": 3}},
        "$defs": {"N": {"type": "integer", "minimum": 1}},
    });
    let form = form(&schema);
    assert_eq!(form["properties"]["p"], json!({"maximum": 3, "type": "integer", "minimum": 1}));
    assert_eq!(form.get("$defs"), None);
}

#[test]
fn a_schema_may_hold_itself() {
    let schema = json!({
        "type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "required": ["next"],
    });
    let whole = json!({
        "type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Whole"}, {"type": "null"}]}},
        "required": ["next"],
    });
    let form = form(&schema);
    assert_eq!(form["$defs"], json!({"Whole": whole}));
    assert_eq!(form["properties"], whole["properties"]);
}

#[test]
fn parts_that_share_a_part_are_put_together() {
    let part = |name: &str| json!({"allOf": [{"$ref": "#/$defs/Base"}], "properties": {name: {"type": "null"}}});
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
        "$defs": {
            "A": part("a"), "B": part("b"),
            "Base": {"type": "object", "properties": {"bases": {"type": "array", "items": {"$ref": "#/$defs/Base"}}}},
        },
    });
    let form = form(&schema);
    let bases = json!({"type": "array", "items": {"$ref": "#/$defs/Base"}});
    assert_eq!(form["properties"], json!({"a": {"type": "null"}, "bases": bases, "b": {"type": "null"}}));
    assert_eq!(form["$defs"], json!({"Base": {"type": "object", "properties": {"bases": bases}}}));
}

#[test]
fn what_stands_beside_a_reference_is_not_within_it() {
    let person = |boss: Value| {
        json!({
            "allOf": [{"$ref": "#/$defs/Person"}],
            "properties": {"manager": {"$ref": "#/$defs/Person", "minProperties": 1}},
            "$defs": {"Person": {"type": "object", "properties": {"boss": boss}}},
        })
    };
    let boss = json!({"$ref": "#/$defs/Person"});
    let manager = json!({"minProperties": 1, "type": "object", "properties": {"boss": boss}});
    assert_eq!(form(&person(boss.clone()))["properties"], json!({"manager": manager, "boss": boss}));

    // With more beside it, it would be written out for ever.
    let text = translate(&person(json!({"$ref": "#/$defs/Person", "minProperties": 1}))).unwrap_err().to_string();
    let expected = "`#/properties/manager/properties/boss` is recursive through `#/$defs/Person`";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn parts_that_multiply_are_refused() {
    let mut schema = samples::parts(31);
    schema["allOf"] = json!([{"$ref": "#/$defs/D0"}]);
    schema["$defs"] = samples::definitions().into();
    let text = translate(&schema).unwrap_err().to_string();
    assert!(text.starts_with("`#` is part of a schema with more than 10000 subschemas"), "{text}");
}

#[test]
fn names_of_properties_stay_to_be_read_and_refer_to_what_there_is() {
    let names = json!({"pattern": "^a"});
    assert_eq!(of_property(&json!({"type": "object", "propertyNames": names}))["propertyNames"], names);

    let names = json!({"$ref": "#/$defs/a_name"});
    let name = json!({"enum": ["a", "b"]});
    let form = form(&json!({"type": "object", "propertyNames": names, "$defs": {"a_name": name}}));
    let expected = json!({"type": "object", "propertyNames": {"$ref": "#/$defs/aname"}, "$defs": {"aname": name}});
    assert_eq!(form, expected);
}

#[test]
fn definitions_get_names_that_differ_in_letters_and_digits() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/a_b"}, "b": {"$ref": "#/$defs/a-b", "description": "B."}, "c": {"$ref": "#/$defs/x~1y"},
        },
        "$defs": {"a_b": {"const": 1}, "a-b": {"const": 2}, "x/y": {"const": 3}},
    });
    let form = form(&schema);
    let to = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    assert_eq!(form["$defs"], json!({"ab": {"const": 1}, "ab-2": {"const": 2}, "x1y": {"const": 3}}));
    assert_eq!((&form["properties"]["a"], &form["properties"]["c"]), (&to("ab"), &to("x1y")));
    assert_eq!(form["properties"]["b"], json!({"$ref": "#/$defs/ab-2", "description": "B."}));
}

#[test]
fn a_pattern_is_translated_for_the_grammar_or_described() {
    let form = of_property(&json!({"type": "string", "pattern": r"^\d$"}));
    assert_eq!(form, json!({"type": "string", "pattern": "^[0-9]$"}));
    let form = of_property(&json!({"type": "string", "pattern": r"\bfoo", "description": "Foo"}));
    let text = r"Foo. Matches the regular expression `\bfoo`.";
    assert_eq!(form, json!({"type": "string", "description": text}));
}

#[test]
fn a_limit_that_a_grammar_cannot_count_to_is_described() {
    let form = of_property(&json!({"type": "string", "minLength": 1, "maxLength": 5000}));
    assert_eq!(form, json!({"type": "string", "minLength": 1, "description": "Length: at most 5000."}));
}

#[test]
fn the_pattern_of_a_map_is_described() {
    let schema =
        json!({"type": "object", "patternProperties": {"^a": {"type": "null"}}, "additionalProperties": false});
    let text = "Each property's name matches the regular expression `^a`.";
    let map = json!({"type": "object", "additionalProperties": {"type": "null"}, "description": text});
    assert_eq!(of_property(&schema), map);
}

#[test]
fn only_the_listed_values_of_the_type_are_left() {
    assert_eq!(of_property(&json!({"type": "string", "enum": ["a", 7]}))["enum"], json!(["a"]));
    assert_eq!(of_property(&json!({"type": ["integer", "null"], "enum": ["a", 7, null]}))["enum"], json!([7, null]));
    let text = refusal(&json!({"type": "string", "const": 7}));
    assert_eq!(text, "`#/properties/p` allows no value: no listed value has its type");
}

#[test]
fn what_would_bring_the_server_down_is_refused() {
    let text = refusal(&json!({"type": "array", "items": {}, "minItems": 3, "maxItems": 2}));
    assert_eq!(text, "`#/properties/p` allows no value: its `minItems` is more than its `maxItems`");
}

#[test]
fn an_unsupported_keyword_is_refused_with_its_path() {
    let plain = |keyword: &str| json!({"type": "array", "items": {keyword: {"const": 1}}});
    for keyword in ["if", "contains", "dependentSchemas", "unevaluatedItems"] {
        let text = refusal(&plain(keyword));
        let expected =
            format!("`#/properties/p/items` uses `{keyword}`, which llama.cpp's grammars cannot express; remove it");
        assert_eq!(text, expected);
    }
    let cases = [
        (json!({"not": {"type": "string"}}), "uses `not`"),
        (json!(false), "allows no value"),
        (json!({"enum": []}), "allows no value"),
        (json!({"anyOf": []}), "has no valid alternative"),
        (json!({"$ref": "#/$defs/Nothing"}), "refers to `#/$defs/Nothing`"),
        (json!({"type": "object", "properties": {"é": {}}, "additionalProperties": {}}), "has the property `é`"),
        (json!({"type": "object", "required": ["a"], "additionalProperties": false}), "requires `a`"),
        (json!({"type": "object", "patternProperties": {"^a": {}}}), "has both pattern properties"),
    ];
    for (schema, expected) in cases {
        let text = refusal(&schema);
        assert!(text.starts_with("`#/properties/p` ") && text.contains(expected), "{text}");
    }
}
