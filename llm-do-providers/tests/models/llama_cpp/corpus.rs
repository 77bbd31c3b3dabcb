//! The schemas of the corpus, and the grammars that the server derives from their converted forms.

use std::sync::Arc;

use llm_do_corpus::{Case, all};
use llm_do_providers::{FinishReason, Message, Model as _, OpenAiModel, OutputSchema, Request, Server, Settings};
use serde_json::{Map, Value, json};

use crate::llama_cpp::schemas::{read, unchanged};
use crate::server::{self as scripted, Reply};

/// The keywords that the grammar ignores.
const PASSED_OVER: [&str; 6] = ["uniqueItems", "multipleOf", "minProperties", "maxProperties", "propertyNames", "not"];
const BOUNDS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
const FORMATS: [&str; 4] = ["date", "time", "date-time", "uuid"];

/// Returns each case of the corpus with the converted output schema.
async fn forms() -> Vec<(Case, Value)> {
    let cases = all();
    let body = json!({"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]});
    let server = scripted::Server::scripted(vec![Reply::json(200, &body); cases.len()]).await;
    let model = OpenAiModel::at(Server::LlamaCpp, "m").base_url(server.base_url()).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let mut forms = Vec::with_capacity(cases.len());
    for case in cases {
        let output = OutputSchema { name: case.name.into(), schema: Arc::new(case.schema.clone()) };
        model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
        let sent = server.requests().last().unwrap().body["response_format"]["json_schema"]["schema"].clone();
        forms.push((case, sent));
    }
    forms
}

/// Returns a schema without the keywords that the grammar ignores.
fn without_ignored(form: &Value) -> Value {
    let Value::Object(keywords) = form else { return form.clone() };
    let is_whole = keywords.get("type").is_some_and(|kind| kind == "integer");
    let stays = |key: &str, value: &Value| match key {
        "format" => FORMATS.iter().any(|known| value == known),
        bound if BOUNDS.contains(&bound) => is_whole,
        key => !PASSED_OVER.contains(&key),
    };
    let kept = keywords.iter().filter(|(key, value)| stays(key, value));
    let without_ignored = kept.map(|(key, value)| (key.clone(), without_ignored_key(key, value)));
    Value::Object(without_ignored.collect::<Map<_, _>>())
}

fn without_ignored_key(key: &str, value: &Value) -> Value {
    match (key, value) {
        ("properties" | "$defs", Value::Object(named)) => {
            Value::Object(named.iter().map(|(name, schema)| (name.clone(), without_ignored(schema))).collect())
        }
        ("anyOf" | "prefixItems", Value::Array(listed)) => listed.iter().map(without_ignored).collect(),
        ("items" | "additionalProperties", schema) => without_ignored(schema),
        (_, other) => other.clone(),
    }
}

with_server! {
    async fn the_server_enforces_every_converted_schema() {
        let mut whole = 0;
        for (case, form) in forms().await {
            let response = unchanged(&form, 24).await.unwrap_or_else(|error| panic!("`{}`: {error}\n{form:#}", case.name));
            // Many answers are longer.
            if response.finish == FinishReason::Stop {
                let answer = read(&response);
                let fault = jsonschema::validate(&without_ignored(&form), &answer).err().map(|error| error.to_string());
                assert_eq!(fault, None, "`{}`: {answer}\n{form:#}", case.name);
                whole += 1;
            }
        }
        assert!(whole > 20, "{whole} answers are complete");
    }
}
