//! The schemas of the corpus, as llama.cpp's server gets them.

use std::sync::Arc;

use llm_do_corpus::{Case, all, subschemas};
use llm_do_providers::{ErrorKind, Message, Model, OpenAiModel, OutputSchema, Request, Settings, ToolSpec};
use serde_json::{Value, json};

use crate::converted::{VALUES, order_is_kept, serialized_values_match};
use crate::server::{Reply, Server};

/// The keywords allowed beside alternatives and references, which the grammar ignores there.
const REMARKS: [&str; 6] = ["$defs", "description", "title", "default", "examples", "deprecated"];
/// The constraints without a keyword in the converted schema, which are described in words.
const SAID: [&str; 4] = ["Matches the regular expression", "Length: ", "Items: ", "Each property's name "];

fn model(server: &Server, of: llm_do_providers::Server) -> OpenAiModel {
    OpenAiModel::at(of, "m").base_url(server.base_url()).retries(0).build().unwrap()
}

fn whole(message: &Value) -> Reply {
    Reply::json(200, &json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
}

/// Each case of the corpus with the output schema sent for it.
async fn sent() -> Vec<(Case, Value)> {
    let cases = all();
    let server = Server::scripted(vec![whole(&json!({"content": "{}"})); cases.len()]).await;
    let model = model(&server, llm_do_providers::Server::LlamaCpp);
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let mut sent = Vec::with_capacity(cases.len());
    for case in cases {
        let output = OutputSchema { name: case.name.into(), schema: Arc::new(case.schema.clone()) };
        model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
        let format = server.requests().last().unwrap().body["response_format"].clone();
        sent.push((case, format["json_schema"]["schema"].clone()));
    }
    sent
}

/// Returns what the server would reject or misread in a schema, without its subschemas.
fn fault(part: &Value) -> Option<String> {
    let Some(keywords) = part.as_object() else { return Some("not an object".to_owned()) };
    let has = |key: &str| keywords.contains_key(key);
    let others = |alone: &str| keywords.keys().find(|key| *key != alone && !REMARKS.contains(&&***key));
    if let Some(alone) = ["anyOf", "$ref"].into_iter().find(|key| has(key))
        && let Some(other) = others(alone)
    {
        return Some(format!("`{other}` beside `{alone}`"));
    }
    let is_told = ["anyOf", "$ref", "type", "const", "enum"].into_iter().any(has);
    let of_lists = ["minItems", "maxItems"].into_iter().any(has) && !has("items") && !has("prefixItems");
    let reference = part["$ref"].as_str().unwrap_or("#/$defs/a").strip_prefix("#/$defs/").unwrap_or("/");
    let pattern = part["pattern"].as_str().unwrap_or("^$");
    match () {
        () if ["allOf", "oneOf", "patternProperties"].into_iter().any(has) => Some("what it passes over".to_owned()),
        () if !is_told => Some("no schema gives its type".to_owned()),
        () if of_lists => Some("a number of items without items".to_owned()),
        () if has("prefixItems") && has("items") => Some("two kinds of items".to_owned()),
        () if !reference.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') => Some(format!("to `{reference}`")),
        () if !(pattern.starts_with('^') && pattern.ends_with('$')) => Some("a pattern without ends".to_owned()),
        () => None,
    }
}

#[tokio::test]
async fn every_schema_of_the_corpus_is_supported_after_conversion() {
    for (case, form) in sent().await {
        for part in subschemas(&form).into_iter().filter(|part| !part.is_boolean()) {
            let fault = fault(part);
            assert!(fault.is_none(), "`{}`: {}\n{part:#}\nin {form:#}", case.name, fault.unwrap_or_default());
        }
        // Boolean schemas are allowed for `additionalProperties` only.
        let text = form.to_string();
        assert!(!text.contains("\"items\":true") && !text.contains("\"items\":false"), "`{}`: {text}", case.name);
    }
}

#[tokio::test]
async fn serialized_values_match_the_converted_schema() {
    serialized_values_match(&sent().await);
}

#[tokio::test]
async fn the_converted_schema_allows_no_more_except_described_constraints() {
    for (case, form) in sent().await {
        let schema = jsonschema::draft202012::new(&case.schema).unwrap();
        let validator = jsonschema::draft202012::new(&form).unwrap();
        let text = form.to_string();
        let is_told = SAID.iter().any(|words| text.contains(words));
        for value in VALUES.iter().filter(|value| validator.is_valid(value)) {
            assert!(is_told || schema.is_valid(value), "`{}` allows {value}\n{form:#}", case.name);
        }
    }
}

#[tokio::test]
async fn properties_keep_their_order() {
    order_is_kept(&sent().await);
}

#[tokio::test]
async fn the_instructions_describe_a_schema_that_the_server_hides() {
    for of in [llm_do_providers::Server::LlamaCpp, llm_do_providers::Server::Ollama] {
        let server = Server::scripted([whole(&json!({"content": "{}"}))]).await;
        let schema = Arc::new(json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}));
        let output = OutputSchema { name: "words".into(), schema };
        let (messages, settings) = ([Message::user("hi")], Settings::default());
        let request = Request::new(&messages, &settings).instructions(Some("Be brief.")).output(Some(&output));
        model(&server, of).request(request).await.unwrap();
        let system = server.requests()[0].body["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(system.starts_with("Be brief.\n\n") && system.contains("\"uniqueItems\":true"), "{system}");
    }
}

/// A tool with the schema as its argument.
fn tool(schema: &Value) -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
    ToolSpec { name: "take".into(), description: "Takes.".into(), parameters: Arc::new(parameters) }
}

#[tokio::test]
async fn tool_parameters_are_converted_too() {
    let server = Server::scripted([whole(&json!({"content": "x"}))]).await;
    let tools = [tool(&json!({"type": "string", "pattern": r"^\d+$"}))];
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let model = model(&server, llm_do_providers::Server::LlamaCpp);
    model.request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
    let parameters = server.requests()[0].body["tools"][0]["function"]["parameters"].clone();
    assert_eq!(parameters["properties"]["p"]["pattern"], "^[0-9]+$");
}

#[tokio::test]
async fn an_unsupported_output_schema_is_rejected_before_the_request() {
    let server = Server::scripted([]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let model = model(&server, llm_do_providers::Server::LlamaCpp);
    let schema = tool(&json!({"type": "array", "contains": {"const": 1}})).parameters;
    let output = OutputSchema { name: "answer".into(), schema };
    let error = model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    let text = "the output schema cannot be converted to a grammar: `#/properties/p` uses `contains`";
    assert!(error.to_string().contains(text), "{error}");
    assert!(server.requests().is_empty());
}
