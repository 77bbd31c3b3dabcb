//! The schemas of the corpus, as they are sent to the server.

use std::sync::Arc;

use llm_do_corpus::{Case, all, subschemas};
use llm_do_providers::{Message, Model, OutputSchema, Request, Settings};
use serde_json::{Value, json};

use crate::converted::{descriptions_are_kept, order_is_kept, serialized_values_match};
use crate::openai::model;
use crate::server::{Reply, Server};

/// The keywords of structured outputs, as OpenAI documents them.
const DOCUMENTED: [&str; 20] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "type",
];
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Each case of the corpus with the output schema sent for it.
async fn sent() -> Vec<(Case, Value)> {
    let cases = all();
    let reply = Reply::json(200, &json!({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}));
    let server = Server::scripted(vec![reply; cases.len()]).await;
    let model = model(&server).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    for case in &cases {
        let output = OutputSchema { name: case.name.into(), schema: Arc::new(case.schema.clone()) };
        model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
    }
    let formats = server.requests().into_iter().map(|request| request.body["response_format"]["json_schema"].clone());
    let sent: Vec<_> = cases.into_iter().zip(formats).collect();
    assert!(sent.iter().all(|(case, format)| format["name"] == case.name && format["strict"].is_boolean()));
    sent
}

fn is_strict(format: &Value) -> bool {
    format["strict"] == true
}

/// The cases with a strict schema, and that schema.
async fn strict() -> Vec<(Case, Value)> {
    let strict = sent().await.into_iter().filter(|(_, format)| is_strict(format));
    strict.map(|(case, mut format)| (case, format["schema"].take())).collect()
}

#[tokio::test]
async fn a_schema_that_is_not_strict_is_sent_unchanged() {
    for (case, format) in sent().await.into_iter().filter(|(_, format)| !is_strict(format)) {
        assert_eq!(format["schema"].to_string(), case.schema.to_string(), "`{}`", case.name);
    }
}

#[tokio::test]
async fn a_strict_schema_keeps_to_the_documented_subset() {
    for (case, schema) in strict().await {
        assert_eq!(schema["type"], "object", "`{}`", case.name);
        for part in subschemas(&schema) {
            let fault = fault(part, &schema);
            assert!(fault.is_none(), "`{}`: {}\n{part:#}\nin {schema:#}", case.name, fault.unwrap_or_default());
        }
    }
}

/// Returns what strict mode would reject in a schema, without its subschemas.
fn fault(part: &Value, root: &Value) -> Option<String> {
    // The `false` of a closed object.
    if *part == false {
        return None;
    }
    let Some(keywords) = part.as_object() else { return Some("not an object".to_owned()) };
    if let Some(unknown) = keywords.keys().find(|key| !DOCUMENTED.contains(&&***key)) {
        return Some(format!("`{unknown}` is not documented"));
    }
    if !["type", "anyOf", "enum", "const", "$ref"].iter().any(|key| keywords.contains_key(*key)) {
        return Some("no schema gives its type".to_owned());
    }
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        let is_bare = keywords.len() == 1;
        let is_there = root.pointer(reference.strip_prefix('#')?).is_some();
        return (!is_bare || !is_there).then(|| format!("the reference {reference}"));
    }
    if part.get("format").is_some_and(|format| !FORMATS.contains(&format.as_str().unwrap())) {
        return Some("an unknown format".to_owned());
    }
    if is_of(part, "array") && !part["items"].is_object() {
        return Some("an array of nothing".to_owned());
    }
    (is_of(part, "object") && !is_closed(part)).then(|| "an open object".to_owned())
}

/// Returns whether the values of a schema may have the type.
fn is_of(part: &Value, kind: &str) -> bool {
    part["type"] == kind || part["type"].as_array().is_some_and(|kinds| kinds.contains(&json!(kind)))
}

/// Returns whether an object requires all its properties and allows nothing else.
fn is_closed(part: &Value) -> bool {
    let Some(properties) = part["properties"].as_object() else { return false };
    let names: Vec<_> = properties.keys().cloned().collect();
    part["additionalProperties"] == false && part["required"] == json!(names)
}

#[tokio::test]
async fn most_schemas_are_strict_including_those_of_enums() {
    let sent = sent().await;
    let strict: Vec<_> = sent.iter().filter(|(_, format)| is_strict(format)).map(|(case, _)| case.name).collect();
    assert!(strict.len() * 3 > sent.len() * 2, "{} of {}", strict.len(), sent.len());
    for name in
        ["a_colour", "a_loudness", "a_term", "an_option_of_inline", "untagged", "a_link", "no_arguments", "not_ascii"]
    {
        assert!(strict.contains(&name), "`{name}`");
    }
}

#[tokio::test]
async fn a_strict_schema_keeps_the_order_of_its_properties() {
    order_is_kept(&strict().await);
}

#[tokio::test]
async fn a_strict_schema_keeps_all_information_for_the_model() {
    descriptions_are_kept(&strict().await);
}

#[tokio::test]
async fn serialized_values_match_the_strict_schema() {
    serialized_values_match(&strict().await);
}
