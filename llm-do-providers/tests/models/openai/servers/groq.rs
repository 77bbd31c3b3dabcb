//! Groq, by <https://console.groq.com/docs/api-reference>, `/docs/reasoning`, `/docs/structured-outputs` and `/docs/errors`.

use super::*;

const GROQ: Server = Server::Groq;
const LLAMA: &str = "llama-3.3-70b-versatile";

#[tokio::test]
async fn supported_settings_are_sent() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_completion_tokens": 9, "seed": 7, "stop": ["x"],
        "parallel_tool_calls": false, "service_tier": "flex"
    });
    assert_eq!(sent_with(GROQ, LLAMA, &everything()).await, body);
}

#[tokio::test]
async fn each_model_gets_thinking_in_its_own_form() {
    let words = efforts(GROQ, "openai/gpt-oss-120b").await;
    assert_eq!(words, ["low", "low", "low", "medium", "high", "medium"]);
    let words = efforts(GROQ, "qwen/qwen3-32b").await;
    assert_eq!(words, ["none", "default", "default", "default", "default", "default"]);
    assert_eq!(efforts(GROQ, LLAMA).await, vec![Value::Null; 6]);
}

#[tokio::test]
async fn separate_thinking_is_requested() {
    let settings = Settings::new();
    assert_eq!(sent_with(GROQ, "qwen/qwen3-32b", &settings).await, json!({"reasoning_format": "parsed"}));
    assert_eq!(sent_with(GROQ, "openai/gpt-oss-20b", &settings).await, json!({}));
}

#[tokio::test]
async fn a_tool_choice_has_the_values_of_openai() {
    let seen = choices(GROQ, LLAMA, &Settings::new()).await;
    assert_eq!(seen, [(both(), json!("required")), (both(), by_name()), (both(), json!("none"))]);
}

#[tokio::test]
async fn a_schema_is_sent_only_if_the_profile_supports_it() {
    assert!(!model(GROQ, "openai/gpt-oss-120b", &Scripted::scripted([]).await).profile().native_output);
    let form = format(GROQ, "openai/gpt-oss-120b").await;
    assert_eq!((&form["type"], &form["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
}

#[tokio::test]
async fn thinking_is_sent_back_in_its_field() {
    let back = json!({"role": "assistant", "reasoning": "hm, add", "tool_calls": called("c1")});
    let message = json!({"reasoning": "hm, add", "tool_calls": called("c1")});
    assert_eq!(turned(GROQ, "qwen/qwen3-32b", reply(&message), false).await.1, back);
    let stream = stream_of(
        [json!({"reasoning": "hm, "}), json!({"reasoning": "add"}), json!({"tool_calls": called("c1")})],
        "tool_calls",
    );
    assert_eq!(turned(GROQ, "qwen/qwen3-32b", stream, true).await.1, back);
}

#[tokio::test]
async fn thinking_is_not_sent_to_another_model() {
    let message = json!({"reasoning": "hm, add", "tool_calls": called("c1")});
    let (first, back) = turned_to(GROQ, (GROQ, LLAMA), "openai/gpt-oss-120b", reply(&message), false).await;
    assert_eq!(thoughts(&first), "hm, add");
    assert_eq!(back, json!({"role": "assistant", "tool_calls": called("c1")}));
}

fn last_piece(x_groq: &Value) -> Reply {
    let piece = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "x_groq": x_groq});
    let first = json!({"choices": [{"index": 0, "delta": {"content": "a"}}], "x_groq": {"id": "req_1"}});
    Reply::stream().event(&first.to_string()).event(&piece.to_string()).event("[DONE]").end()
}

#[tokio::test]
async fn the_usage_of_a_stream_may_be_in_a_vendor_field() {
    let usage = json!({"queue_time": 0.1, "prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7});
    let scripted = Scripted::scripted([last_piece(&json!({"id": "req_1", "usage": usage}))]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let response = answer(&model(GROQ, LLAMA, &scripted), Request::new(&messages, &settings), true).await.unwrap();
    assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (3, 4));
    assert_eq!(scripted.requests()[0].body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn a_stream_stopped_early_by_the_server_is_an_error() {
    let scripted = Scripted::scripted([last_piece(&json!({"id": "req_1", "error": "over capacity, my secret"}))]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let error = answer(&model(GROQ, LLAMA, &scripted), Request::new(&messages, &settings), true).await.unwrap_err();
    assert_eq!((error.provider(), error.kind()), ("groq", ErrorKind::Overloaded));
    assert_eq!(error.partial_response().unwrap().text(), "a");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn only_images_are_supported() {
    assert_eq!(file(GROQ, "qwen/qwen3.6-27b", image()).await.unwrap(), image_url());
    refuses(GROQ, LLAMA, pdf(), "image/*, text/* or application/json").await;
    refuses(GROQ, LLAMA, audio(), "image/*, text/* or application/json").await;
}

#[tokio::test]
async fn errors_have_kinds() {
    let error = |code: &str, kind: &str| json!({"error": {"message": "my secret", "type": kind, "code": code}});
    fails(GROQ, 498, &error("capacity_exceeded", "flex"), ErrorKind::Overloaded, "(capacity_exceeded)").await;
    let long = error("context_length_exceeded", "invalid_request_error");
    fails(GROQ, 400, &long, ErrorKind::ContextTooLong, "shorten or summarise it").await;
    let large = error("rate_limit_exceeded", "tokens");
    fails(GROQ, 413, &large, ErrorKind::ContextTooLong, "(rate_limit_exceeded)").await;
    let unread = "the model wrote a tool call that the server could not parse (tool_use_failed); try again";
    fails(GROQ, 400, &error("tool_use_failed", "invalid_request_error"), ErrorKind::Protocol, unread).await;
}

#[tokio::test]
async fn a_malformed_call_is_retried() {
    let error = json!({
        "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        "type": "invalid_request_error", "code": "tool_use_failed", "failed_generation": "<function=add{\"a\": my secret"
    });
    let error = json!({ "error": error });
    let stream = Reply::stream().event(&error.to_string()).event("[DONE]").end();
    for (unread, is_streamed) in [(Reply::json(400, &error), false), (Reply::json(400, &error), true), (stream, true)] {
        let good = if is_streamed { stream_of([json!({"content": "hello"})], "stop") } else { hello() };
        let scripted = Scripted::scripted([unread, good]).await;
        let limit = Duration::from_secs(5);
        let builder = OpenAiModel::at(GROQ, LLAMA).base_url(scripted.base_url()).idle_timeout(limit).timeout(limit);
        let (messages, settings) = ([Message::user("hi")], Settings::new());
        let request = Request::new(&messages, &settings);
        assert_eq!(answer(&builder.build().unwrap(), request, is_streamed).await.unwrap().text(), "hello");
    }
}

#[tokio::test]
async fn a_full_service_tier_is_retried() {
    let full = Reply::whole(498, "retry-after: 0\r\n", "{\"error\": {\"code\": \"capacity_exceeded\"}}");
    let scripted = Scripted::scripted([full, hello()]).await;
    let model = OpenAiModel::at(GROQ, LLAMA).base_url(scripted.base_url()).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    assert_eq!(model.request(Request::new(&messages, &settings)).await.unwrap().text(), "hello");
}
