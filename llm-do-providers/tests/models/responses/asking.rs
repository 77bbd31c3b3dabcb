//! Requests to the server.

use std::sync::Arc;

use llm_do_providers::{
    ApiKey, Attachment, ErrorKind, Message, Model, OpenAiResponsesModel, OutputSchema, ProviderData, Request,
    ResponsePart, ServerSideTool, Settings, ThinkingLevel, ToolCall, ToolChoice, ToolResult, ToolSpec, UserPart,
    WebSearch,
};
use serde_json::{Value, json};

use crate::each_setting::is_sent_or_causes_a_warning;
use crate::question::{add, streamed_answer};
use crate::responses::{body, message, model, sent, sent_to};
use crate::server::{Reply, Server};

async fn sent_messages(messages: &[Message]) -> Value {
    sent(Request::new(messages, &Settings::default())).await["input"].clone()
}

#[tokio::test]
async fn a_request_is_sent_to_responses_with_the_key_and_without_storage() {
    let server = Server::scripted([Reply::json(200, &body(&json!([message("fine")])))]).await;
    let model = model(&server).api_key(ApiKey::new("sk-1").unwrap()).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    model.request(Request::new(&messages, &settings).instructions(Some("be brief"))).await.unwrap();
    let request = server.requests().remove(0);
    assert!(request.head.starts_with("post /v1/responses http/1.1"), "{}", request.head);
    assert!(request.head.contains("authorization: bearer sk-1"), "{}", request.head);
    let input = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]);
    let expected = json!({
        "model": "m", "instructions": "be brief", "input": input, "include": ["reasoning.encrypted_content"],
        "store": false
    });
    assert_eq!(request.body, expected);
}

#[tokio::test]
async fn reasoning_is_not_requested_from_models_without_it() {
    let server = Server::scripted([Reply::json(200, &body(&json!([message("fine")])))]).await;
    let model = OpenAiResponsesModel::builder("gpt-4o").base_url(server.base_url()).build().unwrap();
    model.request(Request::new(&[Message::user("hi")], &Settings::default())).await.unwrap();
    assert_eq!(server.requests().remove(0).body.get("include"), None);
}

#[tokio::test]
async fn settings_have_the_names_of_the_api_and_unsupported_ones_are_left_out() {
    let settings = Settings::new().temperature(0.5).top_p(0.9).max_tokens(100).service_tier("flex").seed(7).stop("x");
    let settings = settings.presence_penalty(1.0).frequency_penalty(1.0).parallel_tool_calls(false);
    let settings = settings.thinking(ThinkingLevel::High);
    let (messages, tools) = ([Message::user("hi")], [add()]);
    let body = sent(Request::new(&messages, &settings).tools(&tools)).await;
    let mut keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let known = "include input max_output_tokens model parallel_tool_calls reasoning service_tier store temperature tools top_p";
    assert_eq!(keys.join(" "), known);
    assert_eq!(body["reasoning"], json!({"effort": "high", "summary": "auto"}));
    assert_eq!(body["max_output_tokens"], 100);
}

/// What is outside of a namespace costs as many tokens as if it were not deferred.
#[tokio::test]
async fn deferred_tools_are_searched_in_namespaces_of_nine() {
    let named = |name: &str| ToolSpec { name: name.into(), ..add() };
    let deferred: Vec<_> = (1..=10).map(|number| named(&format!("tool_{number}"))).collect();
    let (messages, tools, settings) = ([Message::user("hi")], [add()], Settings::default());
    let body = sent(Request::new(&messages, &settings).tools(&tools).deferred_tools(&deferred)).await;
    let listed = body["tools"].as_array().unwrap();
    let kinds: Vec<_> = listed.iter().map(|tool| tool["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["function", "tool_search", "namespace", "namespace"]);
    assert_eq!(listed[0].get("defer_loading"), None);
    assert_eq!(listed[2]["name"], "tools_1");
    assert_eq!(listed[2]["tools"].as_array().unwrap().len(), 9);
    let function = json!({
        "type": "function", "name": "tool_10", "description": "Adds.", "parameters": *add().parameters, "strict": false,
        "defer_loading": true
    });
    let last =
        json!({"type": "namespace", "name": "tools_2", "description": "Functions: tool_10.", "tools": [function]});
    assert_eq!(listed[3], last);
}

/// The API refuses the call of a function that is in a namespace without it: "Missing namespace for `function_call`".
#[tokio::test]
async fn the_call_of_a_deferred_tool_names_its_namespace_for_any_model_that_made_it() {
    let (call, settings) = (ToolCall::new("call_1", "add", "{}"), Settings::default());
    let messages = [Message::user("hi"), Message::Assistant { parts: vec![ResponsePart::ToolCall(call.clone())] }];
    let (messages, deferred) =
        ([&messages[..], &[Message::Tool { results: vec![ToolResult::new(&call, "3")] }]].concat(), [add()]);
    let body = sent(Request::new(&messages, &settings).deferred_tools(&deferred)).await;
    assert_eq!(body["input"][1]["namespace"], "tools_1");
    let body = sent(Request::new(&messages, &settings).tools(&deferred)).await;
    assert_eq!(body["input"][1].get("namespace"), None);
}

#[tokio::test]
async fn models_since_gpt_5_4_search_tools() {
    let searches = |model: &str| {
        let model = OpenAiResponsesModel::builder(model).base_url("http://localhost").build().unwrap();
        model.profile().tool_search
    };
    for model in ["gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6-terra", "gpt-6-sol", "gpt-6.1-terra", "gpt-6.2-sol"] {
        assert!(searches(model), "{model}");
    }
    for model in ["gpt-4.1", "gpt-5", "gpt-5.3", "gpt-5.4-nano", "o4-mini", "m"] {
        assert!(!searches(model), "{model}");
    }
}

#[tokio::test]
async fn functions_are_not_strict_and_may_be_required() {
    let (messages, tools, settings) = ([Message::user("hi")], [add()], Settings::default());
    let choices = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::Required, json!("required")),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Tool("add"), json!({"type": "function", "name": "add"})),
    ];
    for (choice, written) in choices {
        let body = sent(Request::new(&messages, &settings).tools(&tools).tool_choice(choice)).await;
        let function = json!({
            "type": "function", "name": "add", "description": "Adds.", "parameters": *add().parameters, "strict": false
        });
        assert_eq!((&body["tools"], &body["tool_choice"]), (&json!([function]), &written));
    }
}

#[tokio::test]
async fn reasoning_models_get_no_sampling_settings() {
    for (name, level, sampled, effort) in [
        ("gpt-5-mini", ThinkingLevel::Off, false, json!("minimal")),
        ("gpt-5.6", ThinkingLevel::Off, true, json!("none")),
        ("gpt-5.6", ThinkingLevel::Minimal, false, json!("low")),
        ("gpt-4.1", ThinkingLevel::High, true, Value::Null),
    ] {
        let server = Server::scripted([Reply::json(200, &body(&json!([message("fine")])))]).await;
        let settings = Settings::new().temperature(0.5).top_p(0.9).thinking(level);
        let model = OpenAiResponsesModel::builder(name).base_url(server.base_url()).build().unwrap();
        model.request(Request::new(&[Message::user("hi")], &settings)).await.unwrap();
        let body = server.requests().remove(0).body;
        assert_eq!((body.get("temperature").is_some(), body.get("top_p").is_some()), (sampled, sampled), "{name}");
        assert_eq!(body["reasoning"]["effort"], effort, "{name}");
    }
}

/// "The following tools cannot be used with reasoning.effort 'minimal'": <https://github.com/openai/codex/issues/3559>.
#[tokio::test]
async fn with_server_side_tools_the_minimum_effort_is_low() {
    let tools = [ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution, ServerSideTool::ImageGeneration];
    for level in [ThinkingLevel::Off, ThinkingLevel::Minimal] {
        for (offered, effort) in
            [(&tools[..0], "minimal"), (&tools[..1], "low"), (&tools[1..2], "low"), (&tools[2..], "low")]
        {
            let settings = Settings::new().thinking(level);
            let messages = [Message::user("hi")];
            let body = sent_to("gpt-5-mini", Request::new(&messages, &settings).server_side_tools(offered)).await;
            assert_eq!(body["reasoning"]["effort"], effort, "{offered:?}");
        }
    }
    let (messages, settings) = ([Message::user("hi")], Settings::new().thinking(ThinkingLevel::Off));
    let body = sent_to("gpt-5.2", Request::new(&messages, &settings).server_side_tools(&tools)).await;
    assert_eq!(body["reasoning"]["effort"], "none");
}

#[tokio::test]
async fn reasoning_summaries_can_be_disabled() {
    let (messages, settings) = ([Message::user("hi")], Settings::new().thinking(ThinkingLevel::High));
    let server = Server::scripted([Reply::json(200, &body(&json!([message("fine")])))]).await;
    let model = model(&server).summaries(false).build().unwrap();
    model.request(Request::new(&messages, &settings)).await.unwrap();
    assert_eq!(server.requests()[0].body["reasoning"], json!({"effort": "high"}));
}

#[tokio::test]
async fn models_before_gpt_4o_do_not_support_schemas() {
    for (name, native) in [("gpt-4-turbo", false), ("gpt-4.1", true), ("gpt-5-mini", true)] {
        let model = OpenAiResponsesModel::builder(name).base_url("http://127.0.0.1:1").build().unwrap();
        assert_eq!(model.profile().native_output, native, "{name}");
    }
}

#[tokio::test]
async fn an_output_schema_is_the_format_of_the_text() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let output = OutputSchema { name: "out".into(), schema: Arc::new(schema) };
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let body = sent(Request::new(&messages, &settings).output(Some(&output))).await;
    let format = &body["text"]["format"];
    assert_eq!(
        (&format["type"], &format["name"], &format["strict"]),
        (&json!("json_schema"), &json!("out"), &json!(true))
    );
    assert_eq!(format["schema"]["additionalProperties"], false);
}

#[tokio::test]
async fn files_are_sent_in_messages_and_in_results() {
    let (png, pdf) = (Attachment::new("image/png", "hi!"), Attachment::new("application/pdf", "hi!").named("a.pdf"));
    let note = Attachment::new("text/plain", "milk").named("n.txt");
    let call = ToolCall::new("c1", "draw", "{}");
    let parts = [png.clone(), pdf, note].map(UserPart::Attachment).to_vec();
    let messages = [
        Message::User { parts },
        Message::Assistant { parts: vec![ResponsePart::ToolCall(call.clone())] },
        Message::Tool { results: vec![ToolResult::new(&call, "done").with_attachments([png])] },
    ];
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,aGkh", "detail": "auto"});
    let expected = json!([
        {"type": "message", "role": "user", "content": [
            image,
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGkh"},
            {"type": "input_text", "text": "File `n.txt`:\nmilk"},
        ]},
        {"type": "function_call", "call_id": "c1", "name": "draw", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "done"}, image]},
    ]);
    assert_eq!(sent_messages(&messages).await, expected);
}

#[tokio::test]
async fn an_unsupported_file_is_named() {
    let file = Attachment::new("audio/wav", "my secret").named("a.wav");
    let messages = [Message::User { parts: vec![UserPart::Attachment(file)] }];
    let server = Server::scripted([]).await;
    let settings = Settings::default();
    let error = model(&server).build().unwrap().request(Request::new(&messages, &settings)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.to_string().contains("`a.wav`") && !error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn server_side_tools_and_their_outputs_are_requested() {
    let tools = [
        WebSearch::new().allowed_domains(["example.org"]).into(),
        ServerSideTool::CodeExecution,
        ServerSideTool::ImageGeneration,
    ];
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let body = sent(Request::new(&messages, &settings).server_side_tools(&tools)).await;
    let expected = json!([
        {"type": "web_search", "filters": {"allowed_domains": ["example.org"]}},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "image_generation"},
    ]);
    assert_eq!(body["tools"], expected);
    assert_eq!(body["include"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn unsupported_options_are_rejected_before_the_request() {
    let server = Server::scripted([]).await;
    let model = model(&server).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    for tool in [ServerSideTool::WebFetch, WebSearch::new().max_uses(1).into()] {
        let request = Request::new(&messages, &settings).server_side_tools(std::slice::from_ref(&tool));
        let error = model.request(request).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, None), "{error}");
    }
}

#[tokio::test]
async fn a_streamed_request_has_the_stream_field() {
    let server = Server::scripted([crate::responses::stream_of(&json!([message("fine")]))]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    streamed_answer(&model(&server).build().unwrap(), Request::new(&messages, &settings)).await.unwrap();
    assert_eq!(server.requests()[0].body["stream"], true);
}

#[tokio::test]
async fn a_setting_is_sent_or_causes_a_warning() {
    for name in ["gpt-4o", "gpt-5-mini", "gpt-5.2-chat-latest", "o3", "ours"] {
        let answer = Reply::json(200, &body(&json!([message("fine")])));
        is_sent_or_causes_a_warning(name, "flex", &answer, |server| {
            crate::responses::named(name, server).build().unwrap()
        })
        .await;
    }
}

#[tokio::test]
async fn the_server_is_asked_to_summarize_and_gets_its_summary_back() {
    let summary = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "secret"});
    let kept = ResponsePart::Opaque(ProviderData::new("openai-responses", summary.clone()));
    let parts = vec![kept, ResponsePart::Text { text: "fine".into() }];
    let messages = [Message::user("hi"), Message::Assistant { parts }, Message::user("and now?").pinned()];
    let settings = Settings::new().compact_at(200_000);
    let body = sent(Request::new(&messages, &settings)).await;
    assert_eq!(body["context_management"], json!([{"type": "compaction", "compact_threshold": 200_000}]));
    assert_eq!(body["input"][1], summary);
    assert_eq!(body["input"][3]["content"], json!([{"type": "input_text", "text": "and now?"}]), "a pin is not sent");
}
