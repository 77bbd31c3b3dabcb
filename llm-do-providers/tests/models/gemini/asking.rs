//! Requests to the server.

use std::sync::Arc;

use llm_do_providers::{
    ErrorKind, Message, Model, OutputSchema, Request, ServerSideTool, Settings, ThinkingLevel, ToolChoice, ToolSpec,
    UserPart, WebSearch,
};
use serde_json::{Value, json};

use crate::each_setting::is_sent_or_causes_a_warning;
use crate::gemini::{body, model, named, sent_by, stream_of};
use crate::question::{add, streamed, whole};
use crate::server::{Reply, Server};

/// The body of a request.
async fn sent(request: Request<'_>) -> Value {
    sent_by("gemini-3-flash", request).await
}

#[tokio::test]
async fn a_request_is_sent_to_the_method_with_the_key_as_a_header() {
    let text = json!([{"text": "fine"}]);
    let server = Server::scripted([Reply::json(200, &body(&text, "STOP")), stream_of([text], "STOP")]).await;
    let model = model(&server).build().unwrap();
    whole(&model).await.unwrap();
    streamed(&model).await.unwrap();
    let heads: Vec<_> = server.requests().into_iter().map(|request| request.head).collect();
    assert!(heads[0].starts_with("post /v1beta/models/gemini-3-flash:generatecontent http/1.1"), "{}", heads[0]);
    let method = "post /v1beta/models/gemini-3-flash:streamgeneratecontent?alt=sse http/1.1";
    assert!(heads[1].starts_with(method), "{}", heads[1]);
    assert!(heads.iter().all(|head| head.contains("x-goog-api-key: my-secret-key")), "{heads:?}");
}

#[tokio::test]
async fn a_base_url_may_have_a_version_and_a_model_a_resource_kind() {
    let server = Server::scripted([Reply::json(200, &body(&json!([]), "STOP"))]).await;
    let model = named(&server, "tunedModels/ours").base_url(server.base_url()).build().unwrap();
    whole(&model).await.unwrap();
    let head = &server.requests()[0].head;
    assert!(head.starts_with("post /v1/tunedmodels/ours:generatecontent "), "{head}");
}

#[tokio::test]
async fn a_minimal_request_has_no_optional_fields() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let request = Request::new(&messages, &settings).tool_choice(ToolChoice::Required);
    assert_eq!(sent(request).await, json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}));
}

#[tokio::test]
async fn instructions_are_separate_from_the_conversation() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let body = sent(Request::new(&messages, &settings).instructions(Some("be brief"))).await;
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "be brief"}]}));
}

#[tokio::test]
async fn a_conversation_begins_with_the_user_and_has_no_empty_parts() {
    let empty = UserPart::Text { text: String::new() };
    let messages = [Message::User { parts: vec![empty] }];
    let begin = json!({"role": "user", "parts": [{"text": "(empty message)"}]});
    assert_eq!(sent(Request::new(&messages, &Settings::default())).await["contents"], json!([begin]));
}

#[tokio::test]
async fn settings_have_the_names_of_the_api() {
    let settings = Settings::new()
        .temperature(0.5)
        .top_p(0.9)
        .max_tokens(100)
        .seed(u64::MAX)
        .stop("END")
        .presence_penalty(0.25)
        .frequency_penalty(-0.5)
        .service_tier("flex")
        .parallel_tool_calls(true)
        .cache_prompt(true)
        .extra_body("cachedContent", "cachedContents/1");
    let messages = [Message::user("hi")];
    let body = sent(Request::new(&messages, &settings)).await;
    let config = json!({
        "temperature": 0.5, "topP": 0.9, "maxOutputTokens": 100, "stopSequences": ["END"], "seed": i32::MAX
    });
    assert_eq!(body["generationConfig"], config);
    assert_eq!((&body["serviceTier"], &body["cachedContent"]), (&json!("flex"), &json!("cachedContents/1")));
    assert_eq!(body.as_object().unwrap().len(), 4, "{body}");
}

/// "Penalty is not enabled for models/gemini-2.5-flash": <https://github.com/google-gemini/cookbook/issues/1290>.
#[tokio::test]
async fn penalties_are_sent_only_to_models_that_accept_them() {
    let messages = [Message::user("hi")];
    let settings = Settings::new().presence_penalty(0.25).frequency_penalty(-0.5);
    let request = Request::new(&messages, &settings);
    for model in ["gemini-2.0-flash", "tunedModels/ours"] {
        let expected = json!({"presencePenalty": 0.25, "frequencyPenalty": -0.5});
        assert_eq!(sent_by(model, request).await["generationConfig"], expected, "{model}");
    }
    for model in ["gemini-2.5-flash", "gemini-2.5-pro", "gemini-3.8-flash", "gemini-flash-latest"] {
        assert_eq!(sent_by(model, request).await.get("generationConfig"), None, "{model}");
    }
}

#[tokio::test]
async fn thinking_is_requested_in_the_form_of_the_model_version() {
    let (messages, settings) = ([Message::user("hi")], Settings::new().thinking(ThinkingLevel::Low));
    let request = Request::new(&messages, &settings);
    let config = |body: &Value| body["generationConfig"]["thinkingConfig"].clone();
    let (second, third) = (sent_by("gemini-2.5-flash", request).await, sent_by("gemini-3-flash", request).await);
    assert_eq!(config(&second), json!({"includeThoughts": true, "thinkingBudget": 2048}));
    assert_eq!(config(&third), json!({"includeThoughts": true, "thinkingLevel": "low"}));
    assert_eq!(sent_by("gemini-2.0-flash", request).await.get("generationConfig"), None);
}

#[tokio::test]
async fn tools_and_the_tool_choice_are_sent() {
    let now = ToolSpec {
        name: "now".into(),
        description: "Tells the time.".into(),
        parameters: Arc::new(json!({"type": "object", "properties": {}, "additionalProperties": false})),
    };
    let (messages, settings, tools) = ([Message::user("hi")], Settings::default(), [add(), now]);
    let request = Request::new(&messages, &settings).tools(&tools);
    let parameters = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let declarations = json!([
        {"name": "add", "description": "Adds.", "parametersJsonSchema": parameters},
        {"name": "now", "description": "Tells the time."},
    ]);
    let choices = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::Required, json!({"functionCallingConfig": {"mode": "ANY"}})),
        (ToolChoice::None, json!({"functionCallingConfig": {"mode": "NONE"}})),
        (ToolChoice::Tool("add"), json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]}})),
    ];
    for (choice, config) in choices {
        let body = sent(request.tool_choice(choice)).await;
        assert_eq!(body["tools"], json!([{"functionDeclarations": declarations}]));
        assert_eq!(body["toolConfig"], config, "{choice:?}");
    }
}

#[tokio::test]
async fn an_output_schema_is_sent_as_a_json_schema() {
    let schema = json!({"type": "object", "properties": {"b": {"const": "x"}}, "required": ["b"], "title": "Out"});
    let output = OutputSchema { name: "out".into(), schema: Arc::new(schema) };
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let body = sent(Request::new(&messages, &settings).output(Some(&output))).await;
    let property = json!({"type": "string", "enum": ["x"]});
    let schema = json!({"type": "object", "properties": {"b": property}, "required": ["b"]});
    let config = json!({"responseMimeType": "application/json", "responseJsonSchema": schema});
    assert_eq!(body["generationConfig"], config);
}

#[tokio::test]
async fn a_recursive_type_is_sent_with_references() {
    let children = json!({"children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}});
    let tree = json!({"type": "object", "properties": children});
    let schema =
        Arc::new(json!({"type": "object", "properties": {"t": {"$ref": "#/$defs/Tree"}}, "$defs": {"Tree": tree}}));
    let tool = ToolSpec { name: "plant".into(), description: "Plants.".into(), parameters: Arc::clone(&schema) };
    let output = OutputSchema { name: "forest".into(), schema };
    let (messages, settings, tools) = ([Message::user("hi")], Settings::default(), [tool]);
    let form = json!({"type": "object", "properties": {"t": tree}, "$defs": {"Tree": tree}});
    let request = Request::new(&messages, &settings).tools(&tools).output(Some(&output));
    let body = sent(request).await;
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"], form);
    assert_eq!(body["generationConfig"]["responseJsonSchema"], form);
}

#[tokio::test]
async fn an_unsupported_output_schema_is_rejected_before_the_request() {
    let list = json!({"type": "array", "contains": {"type": "integer"}});
    let schema = Arc::new(json!({"type": "object", "properties": {"t": list}}));
    let output = OutputSchema { name: "forest".into(), schema };
    let server = Server::scripted([]).await;
    let model = model(&server).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let error = model.request(Request::new(&messages, &settings).output(Some(&output))).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, None));
    let what = "the output schema `forest` cannot be converted for Gemini: `#/properties/t` uses `contains`";
    assert!(error.to_string().contains(what), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn server_side_tools_can_be_combined_with_functions_from_version_3() {
    let google = [ServerSideTool::WEB_SEARCH, ServerSideTool::WebFetch, ServerSideTool::CodeExecution];
    let (messages, settings, tools) = ([Message::user("hi")], Settings::default(), [add()]);
    let alone = Request::new(&messages, &settings).server_side_tools(&google);
    let body = sent_by("gemini-2.5-flash", alone).await;
    assert_eq!(body["tools"], json!([{"googleSearch": {}}, {"urlContext": {}}, {"codeExecution": {}}]));
    assert_eq!(body.get("toolConfig"), None);
    let body = sent(alone.tools(&tools)).await;
    assert_eq!(body["tools"][1], json!({"googleSearch": {}}));
    assert_eq!(body["toolConfig"], json!({"includeServerSideToolInvocations": true}));
}

#[tokio::test]
async fn images_are_requested_as_a_modality() {
    let (messages, settings) = ([Message::user("a cat")], Settings::default());
    let request = Request::new(&messages, &settings).server_side_tools(&[ServerSideTool::ImageGeneration]);
    let body = sent_by("gemini-2.5-flash-image", request).await;
    assert_eq!(body["generationConfig"], json!({"responseModalities": ["TEXT", "IMAGE"]}));
    assert_eq!(body.get("tools"), None);
}

#[tokio::test]
async fn unsupported_options_are_rejected_before_the_request() {
    let limited = [ServerSideTool::WebSearch(WebSearch::new().max_uses(1))];
    let search = [ServerSideTool::WEB_SEARCH];
    let images = [ServerSideTool::ImageGeneration];
    let output = OutputSchema { name: "out".into(), schema: Arc::new(json!({"type": "object"})) };
    let (messages, settings, tools) = ([Message::user("hi")], Settings::default(), [add()]);
    let request = Request::new(&messages, &settings);
    let cases = [
        (request.server_side_tools(&limited), "does not support `max_uses`"),
        (request.server_side_tools(&images), "`gemini-2.5-flash` does not generate images"),
        (
            request.server_side_tools(&search).tools(&tools),
            "supports `web_search` only in requests without other tools",
        ),
        (request.server_side_tools(&search).output(Some(&output)), "without an output schema"),
    ];
    let server = Server::scripted([]).await;
    let model = named(&server, "gemini-2.5-flash").build().unwrap();
    for (request, expected) in cases {
        let error = model.request(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_setting_is_sent_or_causes_a_warning() {
    for name in ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-flash", "ours"] {
        let answer = Reply::json(200, &body(&json!([{"text": "fine"}]), "STOP"));
        is_sent_or_causes_a_warning(name, "flex", &answer, |server| named(server, name).build().unwrap()).await;
    }
}

#[tokio::test]
async fn a_changed_value_causes_a_warning() {
    let cases = [
        ("gemini-2.5-pro", Settings::new().thinking(ThinkingLevel::Off), "`off` sent as 128 tokens"),
        ("gemini-2.5-flash", Settings::new().thinking(99_999), "99999 tokens sent as 24576 tokens"),
        ("gemini-3.1-pro-preview", Settings::new().thinking(ThinkingLevel::Off), "`off` sent as `low`"),
        ("gemini-3-flash", Settings::new().seed(u64::MAX), "sent as 2147483647: the API accepts at most 31 bits"),
    ];
    for (name, settings, text) in cases {
        let server = Server::scripted([Reply::json(200, &body(&json!([{"text": "fine"}]), "STOP"))]).await;
        let model = named(&server, name).build().unwrap();
        let answer = model.request(Request::new(&[Message::user("hi")], &settings)).await.unwrap();
        let [warning] = &answer.warnings[..] else { panic!("{name}: {:?}", answer.warnings) };
        assert!(warning.message.contains(text), "{name}: {warning}");
    }
}
