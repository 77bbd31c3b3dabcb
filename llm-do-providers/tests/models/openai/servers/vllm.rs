//! vLLM, by <https://docs.vllm.ai/en/latest/serving/openai_compatible_server/>, `/features/reasoning_outputs/`,
//! `/features/interleaved_thinking/` and `/features/tool_calling/`.

use super::*;

const VLLM: Server = Server::Vllm;
const NAME: &str = "Qwen/Qwen3-8B";

#[tokio::test]
async fn supported_settings_are_sent() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "seed": 7, "stop": ["x"], "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "parallel_tool_calls": false
    });
    assert_eq!(sent_with(VLLM, NAME, &everything()).await, body);
}

#[tokio::test]
async fn thinking_is_a_template_argument_with_an_effort_or_a_budget() {
    let on = json!({"enable_thinking": true, "thinking": true});
    let effort = |word: &str| json!({"chat_template_kwargs": on, "reasoning_effort": word});
    let expected = [
        json!({"chat_template_kwargs": {"enable_thinking": false, "thinking": false}}),
        effort("low"),
        effort("low"),
        effort("medium"),
        effort("high"),
        json!({"chat_template_kwargs": on, "thinking_token_budget": 4000}),
    ];
    assert_eq!(levels(VLLM, NAME).await, expected);
}

#[tokio::test]
async fn a_tool_choice_has_the_values_of_openai() {
    let seen = choices(VLLM, NAME, &Settings::new()).await;
    assert_eq!(seen, [(both(), json!("required")), (both(), by_name()), (both(), json!("none"))]);
}

#[tokio::test]
async fn a_schema_is_sent_unchanged_and_not_with_tools() {
    let profile = model(VLLM, NAME, &Scripted::scripted([]).await).profile();
    assert_eq!((profile.native_output, profile.native_output_with_tools), (true, false));
    assert_eq!(format(VLLM, NAME).await["json_schema"].get("strict"), None);
}

#[tokio::test]
async fn thinking_is_sent_back_in_the_field_it_came_in() {
    for field in ["reasoning", "reasoning_content"] {
        let back = json!({"role": "assistant", field: "hm", "tool_calls": called("c1")});
        let message = json!({"content": null, field: "hm", "tool_calls": called("c1")});
        assert_eq!(turned(VLLM, NAME, reply(&message), false).await.1, back);
        let stream =
            stream_of([json!({field: "h"}), json!({field: "m"}), json!({"tool_calls": called("c1")})], "tool_calls");
        assert_eq!(turned(VLLM, NAME, stream, true).await.1, back);
    }
}

#[tokio::test]
async fn images_and_audio_are_supported() {
    assert_eq!(file(VLLM, NAME, image()).await.unwrap(), image_url());
    assert_eq!(file(VLLM, NAME, audio()).await.unwrap(), input_audio());
    refuses(VLLM, NAME, pdf(), "image/*, audio/wav, audio/mpeg, text/* or application/json").await;
}

#[tokio::test]
async fn an_error_may_be_at_the_top_level() {
    let message = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens";
    let error = json!({"object": "error", "message": message, "type": "BadRequestError", "param": null, "code": 400});
    fails(VLLM, 400, &error, ErrorKind::ContextTooLong, "(BadRequestError)").await;
    fails(VLLM, 400, &json!({ "error": error }), ErrorKind::ContextTooLong, "(BadRequestError)").await;
}

#[tokio::test]
async fn an_error_in_a_stream_has_its_kind() {
    let message = "This model's maximum context length is 4096 tokens.";
    let error = json!({"object": "error", "message": message, "type": "BadRequestError", "param": null, "code": null});
    let scripted = Scripted::scripted([Reply::stream().event(&error.to_string()).end()]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    let error = answer(&model(VLLM, NAME, &scripted), Request::new(&messages, &settings), true).await.unwrap_err();
    assert_eq!((error.provider(), error.kind()), ("vllm", ErrorKind::ContextTooLong));
}
