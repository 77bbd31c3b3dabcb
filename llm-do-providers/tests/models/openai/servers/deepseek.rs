//! DeepSeek, by <https://api-docs.deepseek.com/api/create-chat-completion>, `/guides/thinking_mode`, `/guides/json_mode` and
//! `/quick_start/error_codes`.

use super::*;

const DEEPSEEK: Server = Server::DeepSeek;
const NAME: &str = "deepseek-v4-pro";

#[tokio::test]
async fn supported_settings_are_sent() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "stop": ["x"], "presence_penalty": 0.1, "frequency_penalty": 0.2
    });
    assert_eq!(sent_with(DEEPSEEK, NAME, &everything()).await, body);
}

#[tokio::test]
async fn thinking_is_a_switch_with_an_effort() {
    let on = |effort: &str| json!({"thinking": {"type": "enabled"}, "reasoning_effort": effort});
    let off = json!({"thinking": {"type": "disabled"}});
    let expected = [off, on("low"), on("low"), on("high"), on("high"), on("high")];
    assert_eq!(levels(DEEPSEEK, NAME).await, expected);
}

#[tokio::test]
async fn a_call_is_forced_only_while_it_does_not_think() {
    let thinking = choices(DEEPSEEK, NAME, &Settings::new()).await;
    let expected = [(both(), Value::Null), (vec!["sub".to_owned()], Value::Null), (both(), json!("none"))];
    assert_eq!(thinking, expected);
    let not = choices(DEEPSEEK, NAME, &Settings::new().thinking(ThinkingLevel::Off)).await;
    assert_eq!(not, [(both(), json!("required")), (both(), by_name()), (both(), json!("none"))]);
}

#[tokio::test]
async fn a_schema_is_described_beside_json_mode() {
    assert!(!model(DEEPSEEK, NAME, &Scripted::scripted([]).await).profile().native_output);
    assert_eq!(format(DEEPSEEK, NAME).await, json!({"type": "json_object"}));
    let output = OutputSchema { name: "out".into(), schema: Arc::new(json!({"type": "object"})) };
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let request = Request::new(&messages, &settings).instructions(Some("Be brief.")).output(Some(&output));
    let told = sent(DEEPSEEK, NAME, request).await["messages"][0].take();
    assert_eq!(told["role"], "system");
    let told = told["content"].as_str().unwrap();
    assert!(told.starts_with("Be brief.\n\n") && told.ends_with("JSON schema:\n{\"type\":\"object\"}"), "{told}");
}

#[tokio::test]
async fn thinking_is_sent_back_with_its_calls() {
    let message = json!({"content": "", "reasoning_content": "I \"add\"\n", "tool_calls": called("c1")});
    let back = json!({"role": "assistant", "reasoning_content": "I \"add\"\n", "tool_calls": called("c1")});
    assert_eq!(turned(DEEPSEEK, NAME, reply(&message), false).await.1, back);
    let stream = stream_of(
        [
            json!({"reasoning_content": "I \"a"}),
            json!({"reasoning_content": "dd\"\n"}),
            json!({"tool_calls": called("c1")}),
        ],
        "tool_calls",
    );
    let (first, sent) = turned(DEEPSEEK, NAME, stream, true).await;
    assert_eq!((thoughts(&first).as_str(), sent), ("I \"add\"\n", back));
}

#[tokio::test]
async fn an_answer_without_thinking_is_sent_back_with_an_empty_one() {
    let message = json!({"content": "", "reasoning_content": null, "tool_calls": called("c1")});
    let back = json!({"role": "assistant", "reasoning_content": "", "tool_calls": called("c1")});
    assert_eq!(turned(DEEPSEEK, NAME, reply(&message), false).await.1, back);
    let back = sent_of_another(DEEPSEEK, NAME).await[1].take();
    assert_eq!((&back["reasoning_content"], &back["role"]), (&json!(""), &json!("assistant")));
}

#[tokio::test]
async fn cached_tokens_are_counted() {
    let usage = json!({
        "prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30, "prompt_cache_hit_tokens": 8,
        "prompt_cache_miss_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 15}
    });
    let body = json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": usage});
    let scripted = Scripted::scripted([Reply::json(200, &body)]).await;
    let request = [Message::user("hi")];
    let response = model(DEEPSEEK, NAME, &scripted).request(Request::new(&request, &Settings::new())).await.unwrap();
    assert_eq!((response.usage.cached_tokens, response.usage.reasoning_tokens), (8, 15));
}

#[tokio::test]
async fn only_flash_reads_images() {
    for name in ["deepseek-flash", "deepseek-v4-flash", "deepseek-v4-flash-vision-exp"] {
        assert_eq!(file(DEEPSEEK, name, image()).await.unwrap(), image_url(), "{name}");
    }
    refuses(DEEPSEEK, NAME, image(), "text/* or application/json").await;
    refuses(DEEPSEEK, NAME, pdf(), "text/* or application/json").await;
}

#[tokio::test]
async fn errors_have_kinds() {
    let error = |message: &str| json!({"error": {"message": message, "type": "unknown_error", "param": null, "code": "invalid_request_error"}});
    fails(DEEPSEEK, 402, &error("Insufficient Balance"), ErrorKind::NoCredit, "no credit left").await;
    fails(DEEPSEEK, 422, &error("secret"), ErrorKind::InvalidRequest, "(invalid_request_error)").await;
    let long = "This model's maximum context length is 1048576 tokens. However, you requested 1050000 tokens.";
    fails(DEEPSEEK, 400, &error(long), ErrorKind::ContextTooLong, "shorten or summarise it").await;
    fails(DEEPSEEK, 503, &error("busy"), ErrorKind::Overloaded, "try again later").await;
}
