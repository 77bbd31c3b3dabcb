//! Answers by a schema, and what of one the server's grammar holds a model to.

use llm_do_providers::{FinishReason, Message, OutputSchema, Request};
use serde_json::{Value, json};

use crate::{by_schema, greedy, streamed, texts};

fn person() -> Value {
    let properties = json!({"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}});
    json!({"type": "object", "properties": properties, "required": ["name", "age", "city"]})
}

with_server! {
    async fn an_answer_is_valid_by_its_schema() {
        let response = by_schema("Lars from Oslo is 45.", &person(), 64).await.unwrap();
        assert_eq!(response.finish, FinishReason::Stop);
        let answer: Value = serde_json::from_str(&response.text()).unwrap();
        jsonschema::validate(&person(), &answer).unwrap();
        assert_eq!(answer["age"], 45);
    }

    async fn an_answer_by_a_schema_is_streamed() {
        let output = OutputSchema { name: "person".into(), schema: person().into() };
        let (messages, settings) = ([Message::user("Lars from Oslo is 45.")], greedy(64));
        let (events, response) = streamed(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
        assert_eq!(texts(&events).concat(), response.text());
        jsonschema::validate(&person(), &serde_json::from_str(&response.text()).unwrap()).unwrap();
    }
}
