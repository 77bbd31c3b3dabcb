//! The schemas of tools as each provider accepts them.

use std::sync::Arc;

use llm_do_providers::{
    AnthropicModel, ErrorKind, GeminiModel, Message, Model, OpenAiModel, OpenAiResponsesModel, Request, Response,
    Settings, ToolChoice, ToolSpec,
};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

/// The wires, and the servers of chat completions that take schemas in another form.
const ALL: [&str; 6] = ["Anthropic", "OpenAI", "Responses", "Gemini", "llama.cpp", "Ollama"];

fn model(wire: &str, server: &Server) -> Box<dyn Model> {
    let url = server.base_url();
    match wire {
        "Anthropic" => Box::new(AnthropicModel::builder("claude-sonnet-4-5").base_url(url).retries(0).build().unwrap()),
        "OpenAI" => Box::new(OpenAiModel::builder("m").base_url(url).retries(0).build().unwrap()),
        "Responses" => Box::new(OpenAiResponsesModel::builder("m").base_url(url).retries(0).build().unwrap()),
        "Gemini" => Box::new(GeminiModel::builder("gemini-3-flash").base_url(url).retries(0).build().unwrap()),
        wire => {
            let of =
                if wire == "Ollama" { llm_do_providers::Server::Ollama } else { llm_do_providers::Server::LlamaCpp };
            Box::new(OpenAiModel::at(of, "m").base_url(url).retries(0).build().unwrap())
        }
    }
}

fn answer(wire: &str) -> Reply {
    let text = json!([{ "type": "output_text", "text": "hi", "annotations": [] }]);
    let body = match wire {
        "Anthropic" => json!({
            "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{ "type": "text", "text": "hi" }],
            "stop_reason": "end_turn", "usage": { "input_tokens": 1, "output_tokens": 1 },
        }),
        "Responses" => json!({
            "id": "r", "object": "response", "status": "completed", "model": "m", "error": null,
            "output": [{ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": text }],
            "usage": { "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 },
        }),
        "Gemini" => json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": "hi" }] }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1 },
        }),
        _ => json!({ "choices": [{ "message": { "role": "assistant", "content": "hi" }, "finish_reason": "stop" }] }),
    };
    Reply::json(200, &body)
}

fn tool(name: &str, parameters: &Value) -> ToolSpec {
    ToolSpec { name: name.into(), description: "Acts.".into(), parameters: Arc::new(parameters.clone()) }
}

/// The tools of a body, with the schema of each.
fn tools_of(wire: &str, body: &Value) -> Vec<(String, Value)> {
    let all = body["tools"].as_array().cloned().unwrap_or_default();
    let all = if wire == "Gemini" { all[0]["functionDeclarations"].as_array().cloned().unwrap() } else { all };
    let of = |tool: &Value| match wire {
        "Anthropic" => (tool["name"].clone(), tool["input_schema"].clone()),
        "Responses" => (tool["name"].clone(), tool["parameters"].clone()),
        "Gemini" => (tool["name"].clone(), tool["parametersJsonSchema"].clone()),
        _ => (tool["function"]["name"].clone(), tool["function"]["parameters"].clone()),
    };
    all.iter().map(of).map(|(name, schema)| (name.as_str().unwrap().to_owned(), schema)).collect()
}

/// The tools that are sent, and the answer.
async fn sent(wire: &str, tools: &[ToolSpec]) -> (Vec<(String, Value)>, Response) {
    let server = Server::scripted([answer(wire)]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let answer = model(wire, &server).request(Request::new(&messages, &settings).tools(tools)).await;
    let answer = answer.unwrap_or_else(|error| panic!("{wire}: {error}"));
    (tools_of(wire, &server.requests()[0].body), answer)
}

async fn sent_schema(wire: &str, parameters: &Value) -> Value {
    let (mut tools, _) = sent(wire, &[tool("act", parameters)]).await;
    tools.remove(0).1
}

/// The notes of a model on the schema of a tool.
async fn notes(wire: &str, parameters: &Value) -> Result<Vec<String>, String> {
    let server = Server::scripted([]).await;
    model(wire, &server).tool_notes(&tool("act", parameters))
}

#[tokio::test]
async fn a_plain_schema_is_sent_as_it_is_and_has_no_notes() {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    for wire in ALL {
        assert_eq!(sent_schema(wire, &schema).await, schema, "{wire}");
        assert_eq!(notes(wire, &schema).await, Ok(vec![]), "{wire}");
    }
}

#[tokio::test]
async fn what_a_dialect_cannot_express_is_in_words_and_the_request_is_sent() {
    let schema = json!({
        "type": "object", "required": ["kind"],
        "properties": { "kind": { "type": "string" }, "size": { "type": "integer" }, "all": { "type": "array", "contains": { "const": 1 } } },
        "if": { "properties": { "kind": { "const": "box" } } }, "then": { "required": ["size"] },
    });
    for wire in ["Gemini", "llama.cpp"] {
        let form = sent_schema(wire, &schema).await;
        assert_eq!(form["properties"]["size"]["type"], "integer", "{wire}: {form}");
        assert!(form["description"].as_str().unwrap().contains(r#""then":{"required":["size"]}"#), "{wire}: {form}");
        assert!(form["properties"]["all"]["description"].as_str().unwrap().contains("contains"), "{wire}: {form}");
        let notes = notes(wire, &schema).await.unwrap();
        assert!(notes.iter().any(|note| note.contains("`#/properties/all` uses `contains`")), "{wire}: {notes:?}");
    }
}

#[tokio::test]
async fn a_tool_that_allows_no_arguments_is_left_out_alone_with_a_warning_that_names_it() {
    let never = json!({ "type": "object", "properties": { "a": false }, "required": ["a"] });
    let other = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    for wire in ["Gemini", "llama.cpp"] {
        let (sent, answer) = sent(wire, &[tool("never", &never), tool("other", &other)]).await;
        assert_eq!(sent.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["other"], "{wire}");
        let [warning] = &answer.warnings[..] else { panic!("{wire}: {:?}", answer.warnings) };
        assert!(warning.setting == "tools" && warning.message.contains("`never`"), "{wire}: {warning:?}");
        assert!(notes(wire, &never).await.is_err(), "{wire}");
        let (server, messages, settings) = (Server::scripted([]).await, [Message::user("hi")], Settings::default());
        let tools = [tool("never", &never)];
        let request = Request::new(&messages, &settings).tools(&tools).tool_choice(ToolChoice::Tool("never"));
        let error = model(wire, &server).request(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{wire}: a call of it is required");
        assert!(error.to_string().contains("`never`"), "{wire}: {error}");
    }
}

#[tokio::test]
async fn alternatives_at_the_root_are_one_object() {
    let variant = |kind: &str, of: &str| json!({ "type": "object", "properties": { "kind": { "type": "string", "const": kind }, "value": { "type": of } }, "required": ["kind", "value"] });
    let schema =
        json!({ "type": "object", "oneOf": [variant("a", "string"), variant("b", "integer"), variant("c", "string")] });
    for wire in ALL.into_iter().filter(|wire| *wire != "llama.cpp") {
        let form = sent_schema(wire, &schema).await;
        assert_eq!(form["type"], "object", "{wire}");
        if wire != "Gemini" {
            assert!(["oneOf", "anyOf", "allOf"].iter().all(|key| form.get(key).is_none()), "{wire}: {form}");
        }
        let value = &form["properties"]["value"];
        assert!(value.is_object(), "{wire}: the types A, B, A are one schema: {form}");
        assert_eq!(value["anyOf"].as_array().map(Vec::len), Some(2), "{wire}: {form}");
        assert_eq!(form["required"], json!(["kind", "value"]), "{wire}");
    }
}

#[tokio::test]
async fn booleans_in_place_of_schemas_are_objects_and_earlier_drafts_are_converted() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.org/s.json", "type": "object",
        "properties": {
            "any": true, "all": { "type": "array", "items": true }, "own": { "$ref": "s.json#/definitions/Text" },
            "pair": { "type": "array", "items": [{ "type": "string" }, { "$ref": "#/properties/n" }], "additionalItems": false },
            "n": { "type": "number", "minimum": 0, "exclusiveMinimum": true },
        },
        "definitions": { "Text": { "type": "string" } },
    });
    for wire in ALL {
        let form = sent_schema(wire, &schema).await;
        let properties = &form["properties"];
        assert!(properties["any"].is_object() && properties["all"]["items"].is_object(), "{wire}: {form}");
        assert!(properties["pair"]["prefixItems"].is_array(), "{wire}: {form}");
        assert_eq!(properties["n"].get("exclusiveMinimum").filter(|bound| bound.is_boolean()), None, "{wire}: {form}");
        assert!(form.get("$schema").is_none() && !form.to_string().contains("s.json"), "{wire}: {form}");
    }
}

#[tokio::test]
async fn expressions_and_long_lists_that_servers_refuse_are_in_the_description() {
    let values: Vec<_> = (0..1_200).map(|number| format!("v{number}")).collect();
    let schema = json!({ "type": "object", "properties": {
        "id": { "type": "string", "pattern": "^(?!x)[a-z]+$" }, "code": { "type": "string", "enum": values },
    } });
    for wire in ["Anthropic", "OpenAI", "Responses"] {
        let form = sent_schema(wire, &schema).await;
        let (id, code) = (&form["properties"]["id"], &form["properties"]["code"]);
        assert_eq!(
            id,
            &json!({ "type": "string", "description": "Matches the regular expression `^(?!x)[a-z]+$`." }),
            "{wire}"
        );
        assert!(code.get("enum").is_none() && code["description"].as_str().unwrap().contains("\"v0\""), "{wire}");
        assert_eq!(notes(wire, &schema).await.unwrap().len(), 2, "{wire}");
    }
}

#[tokio::test]
async fn names_that_anthropic_refuses_are_renamed_and_restored_in_calls() {
    let schema = json!({
        "type": "object", "required": ["$filter"],
        "properties": { "$filter": { "type": "string" }, "größe": { "type": "object", "properties": { "a b": {} } } },
    });
    let input = json!({ "_filter": "x", "gr__e": { "a_b": 1 } });
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "act", "input": input });
    let body = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [call], "stop_reason": "tool_use",
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let server = Server::scripted([Reply::json(200, &body)]).await;
    let (messages, settings, tools) = ([Message::user("hi")], Settings::default(), [tool("act", &schema)]);
    let answer = model("Anthropic", &server).request(Request::new(&messages, &settings).tools(&tools)).await.unwrap();
    let form = &tools_of("Anthropic", &server.requests()[0].body)[0].1;
    assert_eq!(form["required"], json!(["_filter"]));
    assert!(form["properties"]["_filter"]["description"].as_str().unwrap().contains("`$filter`"), "{form}");
    let call = answer.tool_calls().next().unwrap();
    assert_eq!(call.arguments, r#"{"$filter":"x","größe":{"a b":1}}"#);
}
