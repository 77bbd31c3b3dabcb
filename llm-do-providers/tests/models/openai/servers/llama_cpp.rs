//! llama.cpp's own server, by <https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md>.

use super::*;

const LLAMA_CPP: Server = Server::LlamaCpp;

#[tokio::test]
async fn supported_settings_are_sent() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "seed": 7, "stop": ["x"], "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "parallel_tool_calls": false
    });
    assert_eq!(sent_with(LLAMA_CPP, "m", &everything()).await, body);
}

#[tokio::test]
async fn a_thinking_level_is_an_effort_or_none() {
    assert_eq!(efforts(LLAMA_CPP, "m").await, ["none", "low", "low", "medium", "high", "medium"]);
}

#[tokio::test]
async fn a_required_tool_is_the_only_one_sent() {
    let seen = choices(LLAMA_CPP, "m", &Settings::new()).await;
    let alone = (vec!["sub".to_owned()], json!("required"));
    assert_eq!(seen, [(both(), json!("required")), alone, (both(), json!("none"))]);
}

#[tokio::test]
async fn a_schema_is_sent_unchanged_and_not_with_tools() {
    let profile = model(LLAMA_CPP, "m", &Scripted::scripted([]).await).profile();
    assert_eq!((profile.native_output, profile.native_output_with_tools), (true, false));
    let schema = json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}});
    let form = json!({"type": "json_schema", "json_schema": {"name": "out", "schema": schema}});
    assert_eq!(format(LLAMA_CPP, "m").await, form);
}

#[tokio::test]
async fn thinking_is_sent_back_in_its_field() {
    let back = json!({"role": "assistant", "content": "4", "reasoning_content": "2+2"});
    let message = json!({"content": "4", "reasoning_content": "2+2"});
    assert_eq!(turned(LLAMA_CPP, "m", reply(&message), false).await.1, back);
    let stream = stream_of(
        [json!({"reasoning_content": "2+"}), json!({"reasoning_content": "2"}), json!({"content": "4"})],
        "stop",
    );
    assert_eq!(turned(LLAMA_CPP, "m", stream, true).await.1, back);
}

#[tokio::test]
async fn images_and_audio_are_supported() {
    assert_eq!(file(LLAMA_CPP, "m", image()).await.unwrap(), image_url());
    assert_eq!(file(LLAMA_CPP, "m", audio()).await.unwrap(), input_audio());
    refuses(LLAMA_CPP, "m", pdf(), "image/*, audio/wav, audio/mpeg, text/* or application/json").await;
}

#[tokio::test]
async fn errors_have_kinds() {
    let error = |code: u16, kind: &str| json!({"error": {"code": code, "message": "my secret", "type": kind}});
    let long = error(400, "exceed_context_size_error");
    fails(LLAMA_CPP, 400, &long, ErrorKind::ContextTooLong, "(exceed_context_size_error)").await;
    fails(LLAMA_CPP, 503, &error(503, "unavailable_error"), ErrorKind::Overloaded, "(unavailable_error)").await;
}
