//! Ollama, by <https://docs.ollama.com/api/openai-compatibility>.

use super::*;

const OLLAMA: Server = Server::Ollama;
const NAME: &str = "qwen3:8b";

#[tokio::test]
async fn supported_settings_are_sent() {
    let body = json!({
        "temperature": 0.5, "top_p": 0.9, "max_tokens": 9, "seed": 7, "stop": ["x"], "presence_penalty": 0.1,
        "frequency_penalty": 0.2
    });
    assert_eq!(sent_with(OLLAMA, NAME, &everything()).await, body);
}

#[tokio::test]
async fn a_thinking_level_is_an_effort_or_none() {
    assert_eq!(efforts(OLLAMA, NAME).await, ["none", "low", "low", "medium", "high", "medium"]);
}

#[tokio::test]
async fn the_offered_tools_replace_an_unsupported_tool_choice() {
    let seen = choices(OLLAMA, NAME, &Settings::new()).await;
    assert_eq!(seen, [(both(), Value::Null), (vec!["sub".to_owned()], Value::Null), (vec![], Value::Null)]);
}

#[tokio::test]
async fn a_schema_is_sent_unchanged_and_not_with_tools() {
    let profile = model(OLLAMA, NAME, &Scripted::scripted([]).await).profile();
    assert_eq!((profile.native_output, profile.native_output_with_tools), (true, false));
    let schema = json!({"type": "object", "properties": {"n": {"type": ["integer", "null"]}}});
    let form = json!({"type": "json_schema", "json_schema": {"name": "out", "schema": schema}});
    assert_eq!(format(OLLAMA, NAME).await, form);
}

#[tokio::test]
async fn thinking_is_sent_back_in_its_field() {
    let back = json!({"role": "assistant", "reasoning": "hm", "tool_calls": called("call_abcdefgh")});
    let message = json!({"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": called("call_abcdefgh")});
    assert_eq!(turned(OLLAMA, NAME, reply(&message), false).await.1, back);
    let stream = stream_of(
        [
            json!({"content": "", "reasoning": "h"}),
            json!({"content": "", "reasoning": "m"}),
            json!({"tool_calls": called("call_abcdefgh")}),
        ],
        "tool_calls",
    );
    assert_eq!(turned(OLLAMA, NAME, stream, true).await.1, back);
}

#[tokio::test]
async fn images_are_supported_and_documents_are_not() {
    assert_eq!(file(OLLAMA, NAME, image()).await.unwrap(), image_url());
    refuses(OLLAMA, NAME, pdf(), "image/*, audio/wav, audio/mpeg, text/* or application/json").await;
}

#[tokio::test]
async fn a_model_that_was_not_pulled_is_not_found() {
    let error = json!({"error": {"message": "model 'secret' not found", "type": "not_found_error", "param": null, "code": null}});
    fails(OLLAMA, 404, &error, ErrorKind::InvalidRequest, "not found (not_found_error); check the model's name").await;
}
