//! Requests: headers, settings, tools, structured output, cache breakpoints.

use std::sync::Arc;

use llm_do_providers::{
    ApiKey, ErrorKind, Message, Model, OutputSchema, Request, ServerSideTool, Settings, ThinkingLevel, ToolChoice,
    ToolSpec, WebSearch,
};
use serde_json::{Value, json};

use crate::anthropic::{asked, hello, model, named, ok_stream};
use crate::each_setting::is_sent_or_causes_a_warning;
use crate::question::{add, streamed, whole};
use crate::server::{Reply, Server};

const NEWEST: &str = "claude-opus-5-5";
const OLDER: &str = "claude-sonnet-4-5";

async fn asked_with(model: &str, settings: Settings) -> Value {
    let messages = [Message::user("hi")];
    asked(model, Request::new(&messages, &settings)).await.0
}

async fn asked_for(model: &str, tool_choice: ToolChoice<'_>, settings: Settings) -> Value {
    let (messages, tools) = ([Message::user("hi")], [add()]);
    asked(model, Request::new(&messages, &settings).tools(&tools).tool_choice(tool_choice)).await.0
}

fn output(schema: Value) -> OutputSchema {
    OutputSchema { name: "out".into(), schema: Arc::new(schema) }
}

async fn asked_for_output(model: &str, schema: Value) -> Value {
    let (messages, settings, output) = ([Message::user("hi")], Settings::default(), output(schema));
    let request = Request::new(&messages, &settings).instructions(Some("be brief")).output(Some(&output));
    asked(model, request).await.0
}

#[tokio::test]
async fn a_request_is_sent_to_messages_with_the_api_version() {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    whole(&model(&server)).await.unwrap();
    let [request] = &server.requests()[..] else { panic!("one request") };
    assert!(request.head.starts_with("post /v1/messages http/1.1"), "{}", request.head);
    assert!(request.head.contains("anthropic-version: 2023-06-01"), "{}", request.head);
    assert!(!request.head.contains("x-api-key") && !request.head.contains("anthropic-beta"), "{}", request.head);
    let expected = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 32000,
        "tools": [{"name": "add", "description": "Adds.", "input_schema": *add().parameters}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "my secret question"}]}],
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn the_key_and_betas_are_headers() {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let model = named(OLDER, &server).api_key(ApiKey::new("sk-ant-1").unwrap()).beta("a-1").beta("b-2").build();
    whole(&model.unwrap()).await.unwrap();
    let head = &server.requests()[0].head;
    assert!(head.contains("x-api-key: sk-ant-1") && head.contains("anthropic-beta: a-1,b-2"), "{head}");
    assert!(!head.contains("authorization"), "{head}");
}

#[tokio::test]
async fn a_streamed_request_has_the_stream_field() {
    let server = Server::scripted([ok_stream()]).await;
    streamed(&model(&server)).await.unwrap();
    assert_eq!(server.requests()[0].body["stream"], true);
}

#[tokio::test]
async fn the_instructions_are_the_system_prompt() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let (body, _) = asked(OLDER, Request::new(&messages, &settings).instructions(Some("be brief"))).await;
    assert_eq!(body["system"], json!([{"type": "text", "text": "be brief"}]));
    let (body, _) = asked(OLDER, Request::new(&messages, &settings).instructions(Some(" \n"))).await;
    assert!(body.get("system").is_none());
}

#[tokio::test]
async fn settings_have_the_names_of_the_api() {
    let settings = Settings::new().max_tokens(9).temperature(0.5).stop("END").service_tier("standard_only");
    let settings = settings.seed(1).presence_penalty(1.0).frequency_penalty(1.0);
    let expected = json!({
        "model": OLDER, "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        "temperature": 0.5, "stop_sequences": ["END"], "service_tier": "standard_only"
    });
    assert_eq!(asked_with(OLDER, settings).await, expected);
}

#[tokio::test]
async fn settings_that_the_newest_models_reject_are_left_out() {
    let body = asked_with(NEWEST, Settings::new().temperature(0.5).top_p(0.5)).await;
    assert!(body.get("temperature").is_none() && body.get("top_p").is_none(), "{body}");
    let body = asked_with(OLDER, Settings::new().temperature(0.5).top_p(0.5)).await;
    assert!(body["temperature"] == 0.5 && body.get("top_p").is_none(), "{body}");
    assert_eq!(asked_with(OLDER, Settings::new().top_p(0.5)).await["top_p"], 0.5);
}

#[tokio::test]
async fn extra_fields_and_headers_are_sent() {
    let settings = Settings::new().extra_body("metadata", json!({"user_id": "u"})).extra_body("top_k", 5);
    let settings = settings.extra_header("anthropic-beta", "mine");
    let messages = [Message::user("hi")];
    let (body, head) = asked(OLDER, Request::new(&messages, &settings)).await;
    assert_eq!((&body["metadata"], &body["top_k"]), (&json!({"user_id": "u"}), &json!(5)));
    assert!(head.contains("anthropic-beta: mine"), "{head}");
}

/// By <https://platform.claude.com/docs/en/build-with-claude/thinking>.
#[tokio::test]
async fn a_thinking_level_is_sent_in_the_form_of_the_model_family() {
    let cases = [
        (OLDER, ThinkingLevel::Low, json!({"type": "enabled", "budget_tokens": 2048}), Value::Null),
        (OLDER, ThinkingLevel::Off, Value::Null, Value::Null),
        ("claude-opus-4-6", ThinkingLevel::High, json!({"type": "adaptive"}), json!({"effort": "high"})),
        ("claude-sonnet-5", ThinkingLevel::Off, json!({"type": "disabled"}), Value::Null),
        ("claude-sonnet-5-5", ThinkingLevel::Off, json!({"type": "between_tools"}), Value::Null),
        (NEWEST, ThinkingLevel::Off, Value::Null, json!({"effort": "low"})),
        (
            NEWEST,
            ThinkingLevel::Medium,
            json!({"type": "adaptive", "display": "summarized"}),
            json!({"effort": "medium"}),
        ),
    ];
    for (model, level, thinking, config) in cases {
        let body = asked_with(model, Settings::new().thinking(level)).await;
        assert_eq!((&body["thinking"], &body["output_config"]), (&thinking, &config), "{model} {level:?}");
    }
}

/// By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools#forcing-tool-use>.
#[tokio::test]
async fn each_tool_choice_has_its_value() {
    let choices = [
        (ToolChoice::Auto, Value::Null, json!({"type": "auto", "disable_parallel_tool_use": true})),
        (ToolChoice::Required, json!({"type": "any"}), json!({"type": "any", "disable_parallel_tool_use": true})),
        (
            ToolChoice::Tool("add"),
            json!({"type": "tool", "name": "add"}),
            json!({"type": "tool", "name": "add", "disable_parallel_tool_use": true}),
        ),
        (ToolChoice::None, json!({"type": "none"}), json!({"type": "none"})),
    ];
    for (choice, parallel, single) in choices {
        assert_eq!(asked_for(OLDER, choice, Settings::new()).await["tool_choice"], parallel);
        let settings = Settings::new().parallel_tool_calls(false);
        assert_eq!(asked_for(OLDER, choice, settings).await["tool_choice"], single);
    }
    let allowed = asked_for(OLDER, ToolChoice::Auto, Settings::new().parallel_tool_calls(true)).await;
    assert!(allowed.get("tool_choice").is_none());
}

#[tokio::test]
async fn a_model_without_forced_calls_gets_tool_choice_auto() {
    let thinks = Settings::new().thinking(ThinkingLevel::Low);
    for choice in [ToolChoice::Required, ToolChoice::Tool("add")] {
        assert!(asked_for(NEWEST, choice, Settings::new()).await.get("tool_choice").is_none());
        assert!(asked_for(OLDER, choice, thinks.clone()).await.get("tool_choice").is_none());
        assert!(asked_for("claude-opus-4-6", choice, thinks.clone()).await.get("tool_choice").is_some());
    }
    let none = asked_for(NEWEST, ToolChoice::None, Settings::new()).await;
    assert_eq!(none["tool_choice"], json!({"type": "none"}));
}

#[tokio::test]
async fn without_tools_no_tool_choice_is_sent() {
    let (messages, settings) = ([Message::user("hi")], Settings::new().parallel_tool_calls(false));
    let (body, _) = asked(OLDER, Request::new(&messages, &settings).tool_choice(ToolChoice::None)).await;
    assert!(body.get("tool_choice").is_none() && body.get("tools").is_none(), "{body}");
}

#[tokio::test]
async fn a_tool_without_a_description_is_sent_without_one() {
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let tools = [ToolSpec { description: "".into(), ..add() }];
    let (body, _) = asked(OLDER, Request::new(&messages, &settings).tools(&tools)).await;
    assert_eq!(body["tools"], json!([{"name": "add", "input_schema": *add().parameters}]));
}

/// By <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>.
#[tokio::test]
async fn an_output_schema_is_enforced() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]});
    let body = asked_for_output(OLDER, schema).await;
    let schema = json!({
        "type": "object", "properties": {"a": {"type": "integer", "description": "Must follow: {\"minimum\":1}"}},
        "required": ["a"], "additionalProperties": false
    });
    assert_eq!(body["output_config"], json!({"format": {"type": "json_schema", "schema": schema}}));
    assert_eq!(body["system"], json!([{"type": "text", "text": "be brief"}]));
}

#[tokio::test]
async fn an_unsupported_schema_is_described_in_the_instructions() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let body = asked_for_output(OLDER, schema.clone()).await;
    assert!(body.get("output_config").is_none(), "{body}");
    let told = body["system"][1]["text"].as_str().unwrap();
    assert!(told.ends_with(&schema.to_string()) && told.contains("JSON schema"), "{told}");
}

#[tokio::test]
async fn an_effort_and_a_schema_can_be_combined() {
    let output = output(json!({"type": "object", "properties": {}}));
    let (messages, settings) = ([Message::user("hi")], Settings::new().thinking(ThinkingLevel::Low));
    let (body, _) = asked(NEWEST, Request::new(&messages, &settings).output(Some(&output))).await;
    assert_eq!(body["output_config"]["effort"], "low");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
}

/// By <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>.
#[tokio::test]
async fn cache_breakpoints_follow_the_stable_prefix() {
    let mark = json!({"type": "ephemeral"});
    let (tools, settings) = ([add(), ToolSpec { name: "sub".into(), ..add() }], Settings::new().cache_prompt(true));
    let messages = [
        Message::user("one"),
        Message::Assistant { parts: vec![llm_do_providers::ResponsePart::Text { text: "1".into() }] },
        Message::user("two"),
        Message::Assistant { parts: vec![llm_do_providers::ResponsePart::Text { text: "2".into() }] },
        Message::user("three"),
    ];
    let request = Request::new(&messages, &settings).instructions(Some("be brief")).tools(&tools);
    let (body, _) = asked(OLDER, request).await;
    assert_eq!(body.to_string().matches("cache_control").count(), 4);
    assert_eq!((body["tools"][0].get("cache_control"), &body["tools"][1]["cache_control"]), (None, &mark));
    assert_eq!(body["system"], json!([{"type": "text", "text": "be brief", "cache_control": mark}]));
    for (place, is_marked) in [(0, false), (1, false), (2, true), (3, false), (4, true)] {
        let block = &body["messages"][place]["content"][0];
        assert_eq!(block.get("cache_control").is_some(), is_marked, "{place}");
    }
}

#[tokio::test]
async fn no_cache_breakpoints_by_default() {
    let (messages, tools) = ([Message::user("one")], [add()]);
    for settings in [Settings::new(), Settings::new().cache_prompt(false)] {
        let request = Request::new(&messages, &settings).instructions(Some("be brief")).tools(&tools);
        assert!(!asked(OLDER, request).await.0.to_string().contains("cache_control"));
    }
}

#[tokio::test]
async fn server_tools_have_versions_and_follow_function_tools() {
    let search = WebSearch::new().max_uses(3).allowed_domains(["example.org"]);
    let server_side = [search.into(), ServerSideTool::WebFetch, ServerSideTool::CodeExecution];
    let (messages, tools, settings) = ([Message::user("hi")], [add()], Settings::new().cache_prompt(true));
    let request = Request::new(&messages, &settings).tools(&tools).server_side_tools(&server_side);
    let (body, _) = asked(OLDER, request).await;
    let expected = json!([
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["example.org"]},
        {"type": "web_fetch_20250910", "name": "web_fetch"},
        {"type": "code_execution_20250825", "name": "code_execution", "cache_control": {"type": "ephemeral"}},
    ]);
    assert_eq!(body["tools"][0]["name"], "add");
    assert_eq!(Value::from(body["tools"].as_array().unwrap()[1..].to_vec()), expected);
}

#[tokio::test]
async fn unsupported_options_are_rejected_before_the_request() {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let (messages, settings) = ([Message::user("news?")], Settings::default());
    let both = WebSearch::new().allowed_domains(["a.org"]).blocked_domains(["b.org"]);
    for (name, tool, told) in [
        (OLDER, both.into(), "`allowed_domains` or `blocked_domains`, not both"),
        (OLDER, ServerSideTool::ImageGeneration, "does not support `image_generation`"),
        ("glm-5", ServerSideTool::WEB_SEARCH, "`glm-5` does not support `web_search`"),
    ] {
        let (model, tools) = (named(name, &server).build().unwrap(), [tool]);
        let error = model.request(Request::new(&messages, &settings).server_side_tools(&tools)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains(told), "{error}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_custom_profile_overrides_that_of_the_model_family() {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let profile = model(&server).profile();
    let model = named("glm-5", &server).profile(profile).build().unwrap();
    let (messages, settings, tools) = ([Message::user("news?")], Settings::default(), [ServerSideTool::WebFetch]);
    model.request(Request::new(&messages, &settings).server_side_tools(&tools)).await.unwrap();
    assert_eq!(server.requests()[0].body["tools"][0]["type"], "web_fetch_20250910");
}

#[tokio::test]
async fn a_setting_is_sent_or_causes_a_warning() {
    for name in ["claude-3-opus-latest", OLDER, "claude-opus-4-6", NEWEST, "ours"] {
        let answer = Reply::json(200, &hello());
        is_sent_or_causes_a_warning(name, "standard_only", &answer, |server| named(name, server).build().unwrap())
            .await;
    }
}

#[tokio::test]
async fn a_valid_budget_is_sent_and_a_changed_one_causes_a_warning() {
    let server = Server::scripted(vec![Reply::json(200, &hello()); 2]).await;
    let (model, messages) = (model(&server), [Message::user("hi")]);
    let kept = Settings::new().thinking(3_000).max_tokens(4_096);
    assert_eq!(model.request(Request::new(&messages, &kept)).await.unwrap().warnings, []);
    assert_eq!(server.requests()[0].body["thinking"]["budget_tokens"], 3_000);
    let lowered = Settings::new().thinking(5_000).max_tokens(4_096);
    let answer = model.request(Request::new(&messages, &lowered)).await.unwrap();
    let [warning] = &answer.warnings[..] else { panic!("{:?}", answer.warnings) };
    assert!(warning.to_string().starts_with("`thinking` 5000 tokens sent as 2048 tokens"), "{warning}");
}
