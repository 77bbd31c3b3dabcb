//! The schemas of the corpus, as they are sent to the server.

use std::sync::Arc;

use llm_do_corpus::{Case, all, subschemas};
use llm_do_providers::{GeminiModel, Message, Model, OutputSchema, Request, Settings};
use serde_json::{Value, json};

use crate::converted::{VALUES, order_is_kept, serialized_values_match};
use crate::gemini::{body, model};
use crate::server::{Reply, Server};

/// The keywords that <https://ai.google.dev/api/generate-content#GenerationConfig> lists for `responseJsonSchema` (read
/// 2026-11-22).
const DOCUMENTED: [&str; 15] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "prefixItems",
    "properties",
    "required",
];
const FORMATS: [&str; 7] = ["date-time", "date", "time", "int32", "int64", "float", "double"];
const KINDS: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
/// The recursive types of the corpus.
const RECURSIVE: [&str; 4] = ["a_tree", "a_link", "a_term", "a_folder"];
/// The constraints without a keyword in Gemini's dialect, which are described in words.
const SAID: [&str; 13] = [
    "Matches the regular expression",
    "Length: ",
    "Properties: ",
    "More than ",
    "Less than ",
    "A multiple of ",
    "No two items are equal.",
    "Not ",
    "Always ",
    "One of: ",
    "Each property's name ",
    "Of each property's name",
    "Format: ",
];

/// Returns the schema sent for an output schema.
async fn sent_by(model: &GeminiModel, server: &Server, case: &Case) -> Value {
    let output = OutputSchema { name: case.name.into(), schema: Arc::new(case.schema.clone()) };
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
    server.requests().last().unwrap().body["generationConfig"]["responseJsonSchema"].clone()
}

/// Each case of the corpus with the schema sent for it.
async fn sent() -> Vec<(Case, Value)> {
    let cases = all();
    let reply = Reply::json(200, &body(&json!([{"text": "{}"}]), "STOP"));
    let server = Server::scripted(vec![reply; cases.len()]).await;
    let model = model(&server).build().unwrap();
    let mut sent = Vec::with_capacity(cases.len());
    for case in cases {
        let form = sent_by(&model, &server, &case).await;
        sent.push((case, form));
    }
    sent
}

#[tokio::test]
async fn every_schema_of_the_corpus_keeps_to_the_documented_keywords() {
    for (case, form) in sent().await {
        assert_eq!(form["type"], "object", "`{}`", case.name);
        for part in subschemas(&form) {
            let fault = fault(part);
            assert!(fault.is_none(), "`{}`: {}\n{part:#}\nin {form:#}", case.name, fault.unwrap_or_default());
        }
    }
}

/// Returns the undocumented keywords of a schema, without its subschemas.
fn fault(part: &Value) -> Option<String> {
    // The `false` of a closed object.
    if *part == false {
        return None;
    }
    let Some(keywords) = part.as_object() else { return Some("not an object".to_owned()) };
    let unknown = keywords.keys().find(|key| *key != "type" && !DOCUMENTED.contains(&&***key));
    let has = |values: &str, fits: fn(&Value) -> bool| part.get(values).is_none_or(fits);
    let kinds = match &part["type"] {
        Value::Array(kinds) => kinds.iter().filter(|kind| *kind != "null").collect(),
        Value::Null => Vec::new(),
        kind => vec![kind],
    };
    match () {
        () if unknown.is_some() => unknown.map(|key| format!("`{key}` is not documented")),
        () if kinds.len() > 1 || kinds.iter().any(|kind| !KINDS.iter().any(|known| *kind == known)) => {
            Some("its types".to_owned())
        }
        () if !has("format", |format| FORMATS.iter().any(|known| format == known)) => Some("its format".to_owned()),
        () if !has("enum", |values| {
            values.as_array().unwrap().iter().all(|value| value.is_string() || value.is_number())
        }) =>
        {
            Some("its values".to_owned())
        }
        () if part["type"] == "array" && part.get("items").is_none() && part.get("prefixItems").is_none() => {
            Some("an array of nothing".to_owned())
        }
        () => None,
    }
}

/// "Cyclic references [..] may only be used within non-required properties", and "if `$ref` is set on a sub-schema, no other
/// properties [..] may be set": <https://ai.google.dev/api/generate-content#GenerationConfig> (read 2026-11-22).
#[tokio::test]
async fn only_recursive_types_have_references_within_the_rules() {
    let mut recursive = Vec::new();
    for (case, form) in sent().await {
        let defined = form.get("$defs").and_then(Value::as_object).into_iter().flat_map(|defs| defs.values());
        let parts: Vec<_> = std::iter::once(&form).chain(defined).flat_map(subschemas).collect();
        for part in &parts {
            let is_alone = part.as_object().is_none_or(|keywords| keywords.len() == 1);
            assert!(part.get("$ref").is_none() || is_alone, "`{}`: {part}", case.name);
            for name in part["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert!(!refers(&part["properties"][name]), "`{}` requires `{name}`: {part:#}", case.name);
            }
        }
        if parts.iter().any(|part| part.get("$ref").is_some()) {
            recursive.push(case.name);
        }
    }
    assert_eq!(recursive, RECURSIVE);
}

/// Returns whether a schema has a reference outside optional properties.
fn refers(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return false };
    keywords.iter().any(|(key, value)| match (key.as_str(), value) {
        ("$ref", _) => true,
        ("anyOf" | "prefixItems", Value::Array(listed)) => listed.iter().any(refers),
        ("items" | "additionalProperties", schema) => refers(schema),
        _ => false,
    })
}

#[tokio::test]
async fn serialized_values_match_the_converted_schema() {
    serialized_values_match(&sent().await);
}

#[tokio::test]
async fn constraints_missing_in_the_converted_schema_are_in_the_description() {
    let mut exact = 0;
    for (case, form) in sent().await {
        let (schema, dialect) =
            (jsonschema::draft202012::new(&case.schema).unwrap(), jsonschema::draft202012::new(&form).unwrap());
        let text = form.to_string();
        let is_told = SAID.iter().any(|words| text.contains(words));
        exact += usize::from(!is_told);
        for value in VALUES.iter() {
            let (before, after) = (schema.is_valid(value), dialect.is_valid(value));
            assert!(after || !before, "`{}` refuses {value}\n{form:#}", case.name);
            assert!(before || !after || is_told, "`{}` allows {value}\n{form:#}", case.name);
        }
    }
    assert!(exact > 70, "{exact} schemas need no description");
}

#[tokio::test]
async fn properties_keep_their_order() {
    order_is_kept(&sent().await);
}
