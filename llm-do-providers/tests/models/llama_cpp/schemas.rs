//! Answers with an output schema, and how much of it the server's grammar enforces.

use llm_do_providers::{ErrorKind, FinishReason, Message, Model as _, OutputSchema, ProviderError, Request, Response};
use serde_json::{Value, json};

use crate::llama_cpp::{by_schema, greedy, model, streamed, texts};

fn person() -> Value {
    let properties = json!({"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}});
    json!({"type": "object", "properties": properties, "required": ["name", "age", "city"]})
}

/// Returns the answer if the server gets the schema unchanged, and the model is not shown it.
pub(crate) async fn unchanged(schema: &Value, tokens: u32) -> Result<Response, ProviderError> {
    let mut settings = greedy(tokens);
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
    settings.extra_body.insert("response_format".to_owned(), format);
    model().request(Request::new(&[Message::user("Name a few colours.")], &settings)).await
}

/// Parses the answer as JSON.
pub(crate) fn read(response: &Response) -> Value {
    assert_eq!(response.finish, FinishReason::Stop, "{}", response.text());
    serde_json::from_str(&response.text()).unwrap()
}

with_server! {
    async fn an_answer_matches_its_schema() {
        let answer = read(&by_schema("Lars from Oslo is 45.", &person(), 64).await.unwrap());
        jsonschema::validate(&person(), &answer).unwrap();
    }

    async fn an_answer_with_a_schema_is_streamed() {
        let output = OutputSchema { name: "person".into(), schema: person().into() };
        let (messages, settings) = ([Message::user("Lars from Oslo is 45.")], greedy(64));
        let (events, response) = streamed(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
        assert_eq!(texts(&events).concat(), response.text());
        jsonschema::validate(&person(), &read(&response)).unwrap();
    }

    async fn the_grammar_enforces_the_converted_schema() {
        let digit = json!({"type": "integer", "exclusiveMinimum": 0.5, "maximum": 9});
        for schema in [
            json!({"type": "string", "pattern": r"^[A-Z]{2}-\d{3}$"}),
            digit.clone(),
            json!({"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2, "maxItems": 3}),
            json!({"type": "array", "prefixItems": [{"const": "a"}, digit], "items": false}),
            json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "oneOf": [
                {"properties": {"b": {"const": 2}}, "required": ["b"]}, {"properties": {"c": {"const": 3}}, "required": ["c"]},
            ]}),
            json!({"$ref": "#/$defs/a_b", "$defs": {"a_b": {"type": "string", "maxLength": 3}, "a-b": {"const": 1}}}),
        ] {
            let answer = read(&by_schema("Name a few colours.", &schema, 64).await.unwrap());
            let fault = jsonschema::validate(&schema, &answer).err().map(|error| error.to_string());
            assert_eq!(fault, None, "{answer} by {schema}");
        }
    }

    async fn ignored_keywords_are_not_enforced() {
        for schema in [
            json!({"type": "array", "items": {"enum": ["red"]}, "uniqueItems": true, "minItems": 3, "maxItems": 3}),
            json!({"type": "number", "minimum": 1000, "maximum": 1001}),
            json!({"type": "string", "enum": ["red"], "not": {"const": "red"}}),
            // Which the form mends, as it does `\d` in a pattern.
            json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "anyOf": [{"maxProperties": 0}]}),
        ] {
            let answer = read(&unchanged(&schema, 64).await.unwrap());
            assert!(!jsonschema::is_valid(&schema, &answer), "{answer} by {schema}");
        }
    }

    async fn an_unsupported_pattern_is_ignored_completely() {
        let text = unchanged(&json!({"type": "string", "pattern": r"^\d{3}$"}), 8).await.unwrap().text();
        assert!(!text.contains(|character: char| character.is_ascii_digit()), "{text}");
    }

    async fn a_schema_that_the_server_rejects_has_an_accepted_form() {
        for schema in [
            json!({"type": "array", "prefixItems": [{"const": 1}], "items": false}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"const": 1}}}),
            json!({"type": "string", "minLength": 1, "maxLength": 5, "format": 7}),
        ] {
            let error = unchanged(&schema, 4).await.unwrap_err();
            assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, Some(400)), "{schema}");
            by_schema("Name a few colours.", &schema, 4).await.unwrap();
        }
    }
}
