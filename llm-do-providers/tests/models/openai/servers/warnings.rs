//! Settings that are changed or not sent.

use llm_do_providers::{Response, SettingWarning, StreamEvent};

use super::*;
use crate::each_setting::is_sent_or_causes_a_warning;

/// The body of a request and the warnings of its response.
async fn asked(server: Server, name: &str, settings: &Settings) -> (Value, Vec<SettingWarning>) {
    let scripted = Scripted::scripted([hello()]).await;
    let (messages, tools) = ([Message::user("hi")], [add()]);
    let request = Request::new(&messages, settings).tools(&tools);
    let Response { warnings, .. } = model(server, name, &scripted).request(request).await.unwrap();
    (scripted.requests().remove(0).body, warnings)
}

#[tokio::test]
async fn a_setting_is_sent_or_causes_a_warning() {
    let models = [
        (Server::DeepSeek, "deepseek-flash"),
        (Server::Groq, "llama-3.3-70b-versatile"),
        (Server::Groq, "openai/gpt-oss-20b"),
        (Server::LlamaCpp, "any"),
        (Server::Mistral, "mistral-small-latest"),
        (Server::Mistral, "ministral-8b-latest"),
        (Server::Ollama, "qwen3:8b"),
        (Server::OpenAi, "gpt-4o"),
        (Server::OpenAi, "gpt-4o-search-preview"),
        (Server::OpenAi, "gpt-5-mini"),
        (Server::OpenAi, "gpt-5.2-chat-latest"),
        (Server::OpenAi, "o3"),
        (Server::OpenAi, "o3-mini"),
        (Server::OpenAi, "ours"),
        (Server::OpenRouter, "openai/gpt-5-mini"),
        (Server::Vllm, "Qwen/Qwen3-8B"),
    ];
    for (server, name) in models {
        let about = format!("{server:?} {name}");
        is_sent_or_causes_a_warning(&about, "flex", &hello(), |scripted| model(server, name, scripted)).await;
    }
}

/// By <https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop> (read 2026-11-22).
#[tokio::test]
async fn stop_is_sent_to_the_models_that_accept_it() {
    let models =
        [("o1", true), ("o3-mini", true), ("gpt-4.1", true), ("o3", false), ("o4-mini", false), ("gpt-5", false)];
    for (model, takes) in models {
        let (body, warnings) = asked(Server::OpenAi, model, &Settings::new().stop("END")).await;
        assert_eq!(body["stop"] == json!(["END"]), takes, "{model}");
        assert_eq!(warnings.is_empty(), takes, "{model}");
    }
}

#[tokio::test]
async fn a_changed_thinking_level_causes_a_warning() {
    let said = |model, level| async move {
        let (_, warnings) = asked(Server::OpenAi, model, &Settings::new().thinking(level)).await;
        warnings.into_iter().map(|warning| warning.to_string()).collect::<Vec<_>>()
    };
    let off = "`thinking` `off` sent as `low`, the nearest that the model accepts";
    assert_eq!(said("o3", ThinkingLevel::Off).await, [off]);
    assert_eq!(said("gpt-5", ThinkingLevel::Minimal).await, [""; 0]);
    assert_eq!(said("gpt-4o", ThinkingLevel::Off).await, [""; 0], "it does not think");
    let tokens = "`thinking` 4000 tokens sent as `medium`, the nearest that the model accepts";
    assert_eq!(said("o3", ThinkingLevel::Tokens(4000)).await, [tokens]);
    let [beside_tools] = &said("gpt-5.4", ThinkingLevel::High).await[..] else { panic!("one warning") };
    assert!(beside_tools.contains("`high` sent as `none`"), "{beside_tools}");
    assert!(beside_tools.contains("use `openai-responses:gpt-5.4`"), "{beside_tools}");
}

#[tokio::test]
async fn a_streamed_answer_has_its_warnings_too() {
    let scripted = Scripted::scripted([crate::openai::stream_of([json!({"content": "hello"})], "stop")]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::new().seed(7));
    let stream = model(Server::DeepSeek, "m", &scripted).stream(Request::new(&messages, &settings)).await.unwrap();
    let events: Vec<_> = futures_util::StreamExt::collect(stream).await;
    let Some(Ok(StreamEvent::Done(response))) = events.last() else { panic!("{events:?}") };
    assert_eq!(response.warnings, [SettingWarning::new("seed", "not sent: the server has no field for it")]);
}
