//! The form of the schemas.

use llm_do::Registry;
use llm_do_corpus::{Case, all, references, subschemas};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::{Value, json};

use crate::schema::runner;

fn schema_of(name: &str) -> Value {
    all().into_iter().find(|case| case.name == name).unwrap().schema
}

#[test]
fn the_corpus_is_large() {
    assert!(all().len() >= 45, "{} tools", all().len());
}

#[test]
fn every_schema_is_valid_draft_2020_12() {
    for Case { name, schema, .. } in all() {
        jsonschema::draft202012::meta::validate(&schema)
            .unwrap_or_else(|error| panic!("`{name}`: {error}\n{schema:#}"));
    }
}

#[test]
fn every_reference_resolves() {
    for Case { name, schema, .. } in all() {
        for pointer in references(&schema) {
            assert!(schema.pointer(&pointer).is_some(), "`{name}` refers to {pointer}:\n{schema:#}");
        }
    }
}

#[test]
fn every_definition_is_referenced() {
    for Case { name, schema, .. } in all() {
        let references = references(&schema);
        for definition in schema["$defs"].as_object().into_iter().flatten().map(|(definition, _)| definition) {
            assert!(references.contains(&format!("/$defs/{definition}")), "`{name}`: {definition}\n{schema:#}");
        }
    }
}

#[test]
fn arguments_are_an_object_without_additional_properties() {
    for Case { name, schema, .. } in all() {
        assert_eq!(schema["type"], "object", "`{name}`");
        assert_eq!(schema["additionalProperties"], false, "`{name}`");
        assert!(schema["properties"].is_object(), "`{name}`");
        assert_eq!(schema.get("description"), None, "`{name}`: the description of the tool must not be in its schema");
    }
}

#[test]
fn no_subschema_has_a_title_or_a_draft() {
    for Case { name, schema, .. } in all() {
        for part in subschemas(&schema) {
            assert!(part.get("title").is_none() && part.get("$schema").is_none(), "`{name}`:\n{part:#}");
        }
    }
}

#[test]
fn a_property_may_be_named_like_a_keyword() {
    let properties = &schema_of("keywords")["$defs"]["Keywords"]["properties"];
    let names: Vec<_> = properties.as_object().unwrap().keys().collect();
    assert_eq!(names, ["title", "type", "$schema", "$ref", "properties", "required", "default"]);
}

#[test]
fn two_registries_have_equal_schemas() {
    let texts =
        || -> Vec<_> { Registry::collect().unwrap().iter().map(|tool| tool.parameters().to_string()).collect() };
    assert_eq!(texts(), texts());
}

#[test]
fn arguments_are_in_source_order() {
    for Case { name, schema, values } in all() {
        // Serde writes them in source order.
        let written = values.new_tree(&mut runner(1)).unwrap().current();
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&schema["properties"]), keys(&written), "`{name}`");
    }
}

#[test]
fn fields_are_in_source_order() {
    let schema = schema_of("ordered");
    let names: Vec<_> = schema["$defs"]["Ordered"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["zulu", "alpha", "mike", "bravo"]);
    assert_eq!(schema["$defs"]["Ordered"]["required"], json!(["zulu", "alpha", "mike"]));
}

#[test]
fn defaults_are_in_the_schema_and_not_required() {
    let schema = schema_of("with_defaults");
    let defaults: Vec<_> = schema["properties"].as_object().unwrap().values().map(|part| &part["default"]).collect();
    assert_eq!(defaults, [&json!(1.5), &json!("utf-8"), &json!(3), &json!("Green")]);
    assert_eq!(schema.get("required"), None);
    let fields = &schema_of("defaults")["$defs"]["Defaults"]["properties"];
    assert_eq!((&fields["count"]["default"], &fields["limit"]["default"]), (&json!(0), &json!(5)));
    assert_eq!(fields["corner"]["default"], json!({ "left": 0.0, "top": 0.0 }));
}

#[test]
fn optional_arguments_are_not_required() {
    let schema = schema_of("optional");
    assert_eq!(schema.get("required"), None);
    assert_eq!(schema_of("described")["required"], json!(["type", "anything", "where"]));
}

#[test]
fn descriptions_and_examples_are_in_the_schema() {
    let schema = schema_of("described");
    let descriptions: Vec<_> =
        schema["properties"].as_object().unwrap().values().map(|part| part["description"].as_str()).collect();
    let expected = [Some("The kind."), Some("Any JSON value."), Some("The position."), Some("Distance in metres.")];
    assert_eq!(descriptions, expected);
    let fields = &schema_of("shown")["$defs"]["Shown"]["properties"];
    assert_eq!(fields["city"]["examples"], json!(["Paris", "Rome"]));
    assert_eq!(fields["days"]["examples"], json!([3, 5]));
    assert_eq!(fields["unit"]["deprecated"], true);
}

#[test]
fn a_type_that_is_used_twice_is_defined_once() {
    let schema = schema_of("two_of_a_kind");
    let point = json!({ "$ref": "#/$defs/Point" });
    assert_eq!((&schema["properties"]["from"], &schema["properties"]["to"]), (&point, &point));
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 1);
}
