//! Requests to the server.

use std::sync::Arc;

use llm_do_providers::{
    ApiKey, CapabilityTable, ErrorKind, Message, Model, OpenAiModel, OutputSchema, Request, ServerSideTool, Settings,
    ThinkingLevel, WebSearch,
};
use serde_json::json;

use crate::openai::{model, stream_of};
use crate::question::{streamed, whole};
use crate::server::{Reply, Server};

fn hello() -> Reply {
    Reply::json(200, &json!({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}))
}

#[tokio::test]
async fn a_request_is_sent_to_chat_completions_as_json() {
    let server = Server::scripted([hello()]).await;
    whole(&model(&server).build().unwrap()).await.unwrap();
    let [request] = &server.requests()[..] else { panic!("one request") };
    assert!(request.head.starts_with("post /v1/chat/completions http/1.1"), "{}", request.head);
    assert!(request.head.contains("content-type: application/json"), "{}", request.head);
    assert!(!request.head.contains("authorization"), "{}", request.head);
    assert_eq!(request.body["model"], "m");
    assert_eq!(request.body["messages"], json!([{"role": "user", "content": "my secret question"}]));
    assert_eq!(request.body["tools"][0]["function"]["name"], "add");
    assert!(request.body.get("stream").is_none());
}

#[tokio::test]
async fn a_key_is_sent_as_a_bearer_token() {
    let server = Server::scripted([hello()]).await;
    let model = model(&server).api_key(ApiKey::new("sk-1").unwrap()).build().unwrap();
    whole(&model).await.unwrap();
    assert!(server.requests()[0].head.contains("authorization: bearer sk-1"));
}

#[tokio::test]
async fn credentials_in_the_base_url_are_sent_without_a_key_and_never_shown() {
    let server = Server::scripted([hello(), hello(), Reply::json(500, &json!({}))]).await;
    let base_url = server.base_url().replace("http://", "http://user:pa%20ss@");
    let builder = OpenAiModel::builder("m").base_url(base_url).retries(0);
    assert!(!format!("{builder:?}").contains("pa%20ss"), "{builder:?}");
    let model = builder.build().unwrap();
    assert!(
        format!("{model:?}").contains("http://127.0.0.1:") && !format!("{model:?}").contains("pa%20ss"),
        "{model:?}"
    );
    whole(&model).await.unwrap();

    let base_url = server.base_url().replace("http://", "http://user:pa%20ss@");
    let builder = OpenAiModel::builder("m").base_url(base_url).retries(0);
    let keyed = builder.api_key(ApiKey::new("sk-1").unwrap()).build().unwrap();
    whole(&keyed).await.unwrap();
    let error = whole(&keyed).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("pa%20ss"), "{error:?}");

    let authorizations = server.requests().into_iter().map(|request| {
        let lines = request.head.lines().filter(|line| line.starts_with("authorization: "));
        lines.collect::<Vec<_>>().join(", ")
    });
    // In lower case, like the whole recorded head: `user:pa ss` in base64.
    let expected =
        ["authorization: basic dxnlcjpwysbzcw==", "authorization: bearer sk-1", "authorization: bearer sk-1"];
    assert_eq!(authorizations.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_streamed_request_asks_for_the_usage() {
    let server = Server::scripted([stream_of([json!({"content": "a"})], "stop")]).await;
    streamed(&model(&server).build().unwrap()).await.unwrap();
    let body = &server.requests()[0].body;
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn an_output_schema_is_sent_as_response_format() {
    let server = Server::scripted([hello()]).await;
    let model = model(&server).build().unwrap();
    assert!(model.profile().native_output);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let output = OutputSchema { name: "out".into(), schema: Arc::new(schema) };
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap();
    let format = &server.requests()[0].body["response_format"];
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["name"], "out");
    assert_eq!(format["json_schema"]["strict"], true);
    assert_eq!(format["json_schema"]["schema"]["additionalProperties"], false);
}

#[tokio::test]
async fn other_servers_get_the_older_name_of_the_token_limit() {
    let server = Server::scripted([hello()]).await;
    let mut settings = Settings::default();
    settings.max_tokens = Some(9);
    let model = model(&server).build().unwrap();
    model.request(Request::new(&[Message::user("hi")], &settings)).await.unwrap();
    let body = &server.requests()[0].body;
    assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(9), None));
}

#[tokio::test]
async fn web_search_is_requested_from_a_search_model() {
    let server = Server::scripted([hello()]).await;
    let model = OpenAiModel::builder("gpt-5-search-api").base_url(server.base_url()).build().unwrap();
    let search = [ServerSideTool::WEB_SEARCH];
    assert!(model.profile().runs(&search[0]));
    let (messages, settings) = ([Message::user("news?")], Settings::default());
    model.request(Request::new(&messages, &settings).server_side_tools(&search)).await.unwrap();
    let body = &server.requests()[0].body;
    assert_eq!(body["web_search_options"], json!({}));
    assert!(body.get("tools").is_none());
}

#[tokio::test]
async fn web_search_is_requested_only_if_the_request_has_the_tool() {
    let server = Server::scripted([hello()]).await;
    let model = OpenAiModel::builder("gpt-5-search-api").base_url(server.base_url()).build().unwrap();
    whole(&model).await.unwrap();
    assert!(server.requests()[0].body.get("web_search_options").is_none());
}

#[tokio::test]
async fn unsupported_options_are_rejected_before_the_request() {
    let server = Server::scripted([hello()]).await;
    let model = model(&server).build().unwrap();
    let (messages, settings) = ([Message::user("news?")], Settings::default());
    for (tool, named) in [
        (WebSearch::new().blocked_domains(["example.org"]).into(), "`blocked_domains`"),
        (ServerSideTool::CodeExecution, "`code_execution`"),
    ] {
        let tools = [tool];
        let error = model.request(Request::new(&messages, &settings).server_side_tools(&tools)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains(named), "{error}");
    }
    assert_eq!(server.requests().len(), 0);
}

async fn asked_with(settings: Settings) -> (serde_json::Value, String) {
    let server = Server::scripted([hello()]).await;
    let messages = [Message::user("hi")];
    model(&server).build().unwrap().request(Request::new(&messages, &settings)).await.unwrap();
    let request = server.requests().remove(0);
    (request.body, request.head)
}

#[tokio::test]
async fn settings_have_the_names_of_the_protocol() {
    let settings = Settings::new().presence_penalty(0.5).frequency_penalty(-0.5).service_tier("flex");
    let (body, _) = asked_with(settings.thinking(ThinkingLevel::Low)).await;
    let written = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "presence_penalty": 0.5, "frequency_penalty": -0.5,
        "reasoning_effort": "low", "service_tier": "flex"
    });
    assert_eq!(body, written);
}

#[tokio::test]
async fn extra_fields_and_headers_are_sent() {
    let settings = Settings::new().extra_body("model", "other").extra_body("top_k", 5).extra_header("X-Team", "blue");
    let (body, head) = asked_with(settings).await;
    assert_eq!((&body["model"], &body["top_k"]), (&json!("other"), &json!(5)));
    assert!(head.contains("x-team: blue"), "{head}");
}

#[tokio::test]
async fn an_invalid_header_is_named_without_its_value() {
    let server = Server::scripted([]).await;
    let settings = Settings::new().extra_header("x-key", "my secret\n");
    let (messages, model) = ([Message::user("hi")], model(&server).build().unwrap());
    let error = model.request(Request::new(&messages, &settings)).await.unwrap_err();
    assert!(error.to_string().contains("`x-key`") && !error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_row_of_the_user_sets_what_a_model_accepts() {
    let table = CapabilityTable::builtin();
    let table = table.with("openai:o3", json!({"thinking": "never", "efforts": {}, "native_output": "never"})).unwrap();
    let server = Server::scripted([hello(), hello()]).await;
    let builder = OpenAiModel::builder("o3").base_url(server.base_url());
    let ours = builder.clone().capabilities(table).build().unwrap();
    assert!(builder.clone().build().unwrap().profile().native_output && !ours.profile().native_output);
    let mut settings = Settings::default();
    settings.stop = vec!["END".into()];
    settings.thinking = Some(ThinkingLevel::High);
    for model in [builder.build().unwrap(), ours] {
        model.request(Request::new(&[Message::user("hi")], &settings)).await.unwrap();
    }
    let [built_in, ours] = &server.requests()[..] else { panic!("two requests") };
    assert_eq!((built_in.body.get("stop"), &built_in.body["reasoning_effort"]), (None, &json!("high")));
    assert_eq!((&ours.body["stop"], ours.body.get("reasoning_effort")), (&json!(["END"]), None));
}
