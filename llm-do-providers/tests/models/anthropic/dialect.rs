//! The schemas of the corpus, as they are sent to the server.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>.

use std::sync::Arc;

use llm_do_corpus::{Case, all, subschemas};
use llm_do_providers::{Message, Model, OutputSchema, Request, Settings};
use serde_json::Value;

use crate::anthropic::{hello, model};
use crate::converted::{descriptions_are_kept, order_is_kept, serialized_values_match};
use crate::server::{Reply, Server};

const DOCUMENTED: [&str; 12] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "format",
    "items",
    "minItems",
    "properties",
    "required",
];

/// Each case of the corpus with the body of a request for it.
async fn sent() -> Vec<(Case, Value)> {
    let cases = all();
    let server = Server::scripted(vec![Reply::json(200, &hello()); cases.len()]).await;
    let (model, messages, settings) = (model(&server), [Message::user("hi")], Settings::default());
    for case in &cases {
        let output = OutputSchema { name: case.name.into(), schema: Arc::new(case.schema.clone()) };
        model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
    }
    let bodies = server.requests().into_iter().map(|request| request.body);
    cases.into_iter().zip(bodies).collect()
}

/// The cases with an enforced schema, and that schema.
async fn enforced() -> Vec<(Case, Value)> {
    let schemas =
        sent().await.into_iter().map(|(case, mut body)| (case, body["output_config"]["format"]["schema"].take()));
    schemas.filter(|(_, schema)| !schema.is_null()).collect()
}

#[tokio::test]
async fn a_schema_is_enforced_or_described_completely() {
    for (case, body) in sent().await {
        let is_enforced = body["output_config"]["format"]["type"] == "json_schema";
        let told = body["system"][0]["text"].as_str().unwrap_or_default();
        assert_ne!(is_enforced, told.ends_with(&case.schema.to_string()), "`{}`: {body:#}", case.name);
    }
}

#[tokio::test]
async fn an_enforced_schema_keeps_to_the_documented_subset() {
    for (case, schema) in enforced().await {
        assert_eq!(schema["type"], "object", "`{}`", case.name);
        for part in subschemas(&schema).into_iter().filter(|part| **part != false) {
            let fault = fault(part, &schema);
            assert!(fault.is_none(), "`{}`: {}\n{part:#}\nin {schema:#}", case.name, fault.unwrap_or_default());
        }
    }
}

/// Returns what the API would reject in a schema, without its subschemas.
fn fault(part: &Value, root: &Value) -> Option<String> {
    let Some(keywords) = part.as_object() else { return Some("not an object".to_owned()) };
    if let Some(unknown) = keywords.keys().find(|key| *key != "type" && !DOCUMENTED.contains(&&***key)) {
        return Some(format!("`{unknown}` is not documented"));
    }
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        let is_there = root.pointer(reference.strip_prefix('#')?).is_some();
        return (keywords.len() != 1 || !is_there).then(|| format!("the reference {reference}"));
    }
    if !["type", "anyOf", "enum", "const"].iter().any(|key| keywords.contains_key(*key)) {
        return Some("no schema gives its type".to_owned());
    }
    if part.get("minItems").is_some_and(|least| least.as_u64() > Some(1)) {
        return Some("a list of at least several".to_owned());
    }
    let is_object =
        part["type"] == "object" || part["type"].as_array().is_some_and(|kinds| kinds.contains(&"object".into()));
    (is_object && part["additionalProperties"] != false).then(|| "an open object".to_owned())
}

#[tokio::test]
async fn an_enforced_schema_keeps_all_information_for_the_model() {
    descriptions_are_kept(&enforced().await);
}

#[tokio::test]
async fn serialized_values_match_the_enforced_schema() {
    serialized_values_match(&enforced().await);
}

#[tokio::test]
async fn an_enforced_schema_keeps_the_order_of_its_properties() {
    order_is_kept(&enforced().await);
}

#[tokio::test]
async fn most_schemas_are_enforced() {
    let (count, enforced) = (all().len(), enforced().await);
    assert!(enforced.len() * 4 > count * 3, "{} of {count}", enforced.len());
    for name in ["a_colour", "a_loudness", "an_option_of_inline", "untagged", "external", "a_nested_tuple", "not_ascii"]
    {
        assert!(enforced.iter().any(|(case, _)| case.name == name), "`{name}`");
    }
    for name in ["a_term", "a_link"] {
        assert!(!enforced.iter().any(|(case, _)| case.name == name), "`{name}` holds itself");
    }
}
