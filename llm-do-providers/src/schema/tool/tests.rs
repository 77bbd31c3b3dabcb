//! The forms of tools allow what their schemas do, and servers accept them.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{ToolForm, anthropic, gemini, llama_cpp, openai};
use crate::schema::Unsupported;
use crate::schema::samples::{opened, schemas, values};

pub(super) type Form = fn(&Arc<Value>) -> Result<Arc<ToolForm>, Unsupported>;

pub(super) const DIALECTS: [(&str, Form); 4] = [
    ("Anthropic", |schema| Ok(anthropic(schema))),
    ("OpenAI", |schema| Ok(openai(schema))),
    ("Gemini", gemini),
    ("llama.cpp", llama_cpp),
];

fn forms(schema: &Value) -> impl Iterator<Item = (&'static str, Arc<ToolForm>)> {
    let schema = Arc::new(schema.clone());
    DIALECTS
        .into_iter()
        .map(move |(name, form)| (name, form(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))))
}

/// Adds a keyword that no dialect expresses to each object of a schema.
fn hardened(schema: &Value, rule: &Map<String, Value>) -> Value {
    match schema {
        Value::Object(keywords) => {
            let mut all: Map<_, _> = keywords.iter().map(|(key, value)| (key.clone(), hardened(value, rule))).collect();
            if keywords.get("type").is_some_and(|kind| kind == "object") {
                all.extend(rule.clone());
            }
            Value::Object(all)
        }
        Value::Array(parts) => parts.iter().map(|part| hardened(part, rule)).collect(),
        other => other.clone(),
    }
}

fn rules() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!({}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"not": {"required": ["c"]}}),
        json!({"$comment": "x"}),
        json!({"propertyNames": {"pattern": "^(?!z)"}}),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_valid_value_is_valid_for_each_form(
        schema in schemas(), rule in rules(), values in prop::collection::vec(values(), 24),
    ) {
        let schema = hardened(&schema, rule.as_object().unwrap());
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let shared = Arc::new(schema.clone());
        for (name, form) in DIALECTS {
            let Ok(form) = form(&shared) else { continue };
            // A property that only one alternative declares has its schema in one object of all.
            if !form.notes.is_empty() && schema.to_string().contains("\"anyOf\"") {
                continue;
            }
            let form = if name == "llama.cpp" { opened(&form.schema) } else { Value::clone(&form.schema) };
            let after = jsonschema::draft202012::new(&form).unwrap();
            for value in values.iter().filter(|value| validator.is_valid(value)) {
                prop_assert!(after.is_valid(value), "{}: {}\nis refused by\n{:#}\nof\n{:#}", name, value, form, schema);
            }
        }
    }
}

#[test]
fn what_no_dialect_expresses_is_in_words_and_the_rest_stays() {
    let address = json!({"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}});
    let mut schema = json!({
        "type": "object", "properties": {"to": address, "n": {"type": "integer"}}, "required": ["n"],
    });
    schema["properties"]["to"]["if"] = json!({"required": ["zip"]});
    schema["properties"]["to"]["then"] = json!({"required": ["city"]});
    for (name, form) in forms(&schema) {
        let to = &form.schema["properties"]["to"];
        assert_eq!(to["properties"]["city"]["type"], "string", "{name}");
        if name == "Gemini" || name == "llama.cpp" {
            assert_eq!(form.notes.len(), 1, "{name}: {:?}", form.notes);
            assert!(form.notes[0].starts_with("`#/properties/to` uses `if`"), "{name}: {:?}", form.notes);
            let words = to["description"].as_str().unwrap();
            assert!(words.contains("Must also follow") && words.contains("zip"), "{name}: {words}");
        }
    }
}

#[test]
fn different_comments_beside_a_reference_do_not_conflict() {
    let schema = json!({
        "type": "object", "properties": {"a": {"$ref": "#/$defs/A", "$comment": "here"}},
        "$defs": {"A": {"type": "string", "$comment": "there", "x-order": 1}},
    });
    for (name, form) in forms(&schema) {
        assert!(form.notes.is_empty(), "{name}: {:?}", form.notes);
    }
}

#[test]
fn each_form_has_the_properties_of_all_alternatives_and_no_list_as_a_schema() {
    let variant = |kind: &str, of: Value| json!({"type": "object", "properties": {"kind": {"type": "string", "const": kind}, "value": of}, "required": ["kind", "value"]});
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let schema = json!({"type": "object", "oneOf": [
        variant("a", text.clone()), variant("b", number.clone()), variant("c", text),
    ]});
    for (name, form) in forms(&schema) {
        let value = &form.schema["properties"]["value"];
        assert_eq!(value["anyOf"].as_array().map(Vec::len), Some(2), "{name}: {:#}", form.schema);
        assert!(form.schema.get("oneOf").is_none() && form.schema["type"] == "object", "{name}");
        assert!(jsonschema::draft202012::new(&form.schema).is_ok(), "{name}");
    }
}

#[test]
fn a_form_is_an_object_where_an_earlier_draft_has_only_a_reference() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "$ref": "#/definitions/City",
        "definitions": {"City": {"properties": {"name": {"type": "string"}}, "required": ["name"]}},
    });
    for (name, form) in forms(&schema) {
        assert_eq!(form.schema["type"], "object", "{name}: {:#}", form.schema);
        assert_eq!(form.schema["properties"]["name"]["type"], "string", "{name}: {:#}", form.schema);
        assert_eq!(form.schema["required"], json!(["name"]), "{name}: {:#}", form.schema);
        assert_eq!(form.schema.get("$ref"), None, "{name}");
    }
}

#[test]
fn only_the_alternative_that_no_dialect_expresses_is_in_words() {
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {"to": {"type": "object", "anyOf": [
        {"properties": {"city": text}, "required": ["city"]},
        {"properties": {"zip": text}, "dependentRequired": {"zip": ["land"]}},
    ]}}});
    for (name, form) in forms(&schema).filter(|(name, _)| ["Gemini", "llama.cpp"].contains(name)) {
        let either = &form.schema["properties"]["to"]["anyOf"];
        assert_eq!(either[0]["required"], json!(["city"]), "{name}: {:#}", form.schema);
        assert_eq!(either[0].get("description"), None, "{name}");
        assert_eq!(either[1]["properties"]["zip"]["type"], "string", "{name}: {:#}", form.schema);
        assert!(either[1]["description"].as_str().unwrap().contains("land"), "{name}: {either:#}");
        assert_eq!(form.notes.len(), 1, "{name}: {:?}", form.notes);
    }
}

#[test]
fn an_alternative_without_values_costs_only_itself() {
    let schema = json!({"type": "object", "required": ["to"], "properties": {"to": {
        "not": {"type": "object"},
        "anyOf": [{"type": "string"}, {"type": "array", "anyOf": [{"type": "string"}]}],
    }}});
    for (name, form) in forms(&schema).filter(|(name, _)| ["Gemini", "llama.cpp"].contains(name)) {
        assert_eq!(form.schema["properties"]["to"]["type"], "string", "{name}: {:#}", form.schema);
        assert_eq!(form.schema["required"], json!(["to"]), "{name}");
    }
}

#[test]
fn no_form_has_a_schema_that_is_a_boolean_or_words_of_earlier_drafts() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {
            "any": true, "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}]},
            "n": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
        },
    });
    for (name, form) in forms(&schema) {
        assert!(form.schema["properties"]["any"].is_object(), "{name}");
        assert!(form.schema["properties"]["pair"]["prefixItems"].is_array(), "{name}: {:#}", form.schema);
        assert_eq!(form.schema["properties"]["n"].get("minimum"), None, "{name}: {:#}", form.schema);
        assert!(jsonschema::draft202012::new(&form.schema).is_ok(), "{name}: {:#}", form.schema);
    }
}

#[test]
fn refused_names_are_renamed_and_restored() {
    let schema = Arc::new(json!({"type": "object", "properties": {"$filter": {"type": "string"}, "top": {}}}));
    let form = anthropic(&schema);
    assert!(form.renames() && form.schema["properties"].get("_filter").is_some(), "{:#}", form.schema);
    assert_eq!(form.notes, ["the property `$filter` is sent as `_filter`"]);
    assert_eq!(form.restore(r#"{"top": 1, "_filter": "x"}"#).unwrap(), r#"{"top":1,"$filter":"x"}"#);
    assert_eq!(form.restore("{"), None);
}

#[test]
fn a_tool_whose_required_property_has_no_value_has_no_form_in_grammars() {
    let schema = Arc::new(json!({"type": "object", "properties": {"a": false}, "required": ["a"]}));
    assert!(gemini(&schema).is_err());
    assert!(Arc::ptr_eq(&openai(&schema), &openai(&schema)), "translated once");
}

#[test]
fn a_deep_or_recursive_schema_that_is_weakened_does_not_exhaust_the_stack() {
    let hard = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "if": {"required": ["b"]}});
    let deep = (0..120).fold(json!({"type": "string"}), |schema, _| hard(schema));
    let node = json!({
        "type": "object", "properties": {"next": {"$ref": "#/$defs/Other"}, "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "if": {"required": ["b"]}, "oneOf": [{"required": ["next"]}, {"required": ["all"]}],
    });
    let other =
        json!({"allOf": [{"$ref": "#/$defs/Node"}], "not": {"required": ["c"]}, "unevaluatedProperties": false});
    let recursive = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node, "Other": other}});
    for (schema, largest) in [(deep, 100_000), (recursive, 20_000)] {
        for (name, form) in forms(&schema) {
            let size = form.schema.to_string().len();
            assert!(size < largest, "{name}: {size} bytes: {:.400}", form.schema.to_string());
        }
    }
}
