//! Properties of each server, or of several.

use super::*;

#[tokio::test]
async fn an_unknown_server_gets_no_thinking_back() {
    let message = json!({"content": "", "reasoning_content": "hm", "tool_calls": called("c1")});
    let (first, back) = turned(Server::OpenAi, "qwen3-4b", reply(&message), false).await;
    assert_eq!(first.parts[0], ResponsePart::Thinking(Thinking::new("hm")));
    assert_eq!(back, json!({"role": "assistant", "tool_calls": called("c1")}));
}

#[tokio::test]
async fn no_server_gets_thinking_of_another() {
    for server in [Server::Groq, Server::LlamaCpp, Server::Ollama, Server::OpenRouter, Server::Vllm] {
        let back = sent_of_another(server, "m").await[1].take();
        assert_eq!(
            back,
            json!({"role": "assistant", "tool_calls": called("toolu_01A09q90qw90lq917835lq9")}),
            "{server:?}"
        );
    }
}

#[tokio::test]
async fn an_unsupported_server_side_tool_is_rejected_before_the_request() {
    let (messages, settings) = ([Message::user("news?")], Settings::new());
    for server in [Server::Groq, Server::Mistral, Server::OpenRouter] {
        let scripted = Scripted::scripted([]).await;
        let search = [llm_do_providers::ServerSideTool::WEB_SEARCH];
        let model = model(server, "m", &scripted);
        assert!(model.profile().server_side_tools.is_empty());
        let error = model.request(Request::new(&messages, &settings).server_side_tools(&search)).await.unwrap_err();
        assert_eq!((error.provider(), error.kind()), (server.prefix(), ErrorKind::InvalidRequest));
        assert!(error.to_string().contains("does not support `web_search`"), "{error}");
    }
}

#[tokio::test]
async fn a_key_is_sent_to_a_server_that_needs_none() {
    let scripted = Scripted::scripted([hello()]).await;
    let key = llm_do_providers::ApiKey::new("k1").unwrap();
    let model = OpenAiModel::at(Server::Vllm, "m").base_url(scripted.base_url()).api_key(key).build().unwrap();
    model.request(Request::new(&[Message::user("hi")], &Settings::new())).await.unwrap();
    assert!(scripted.requests()[0].head.contains("authorization: bearer k1"));
}

#[tokio::test]
async fn a_rejected_key_error_names_the_variable_of_the_server() {
    for (server, variable) in [(Server::Groq, "`GROQ_API_KEY`"), (Server::LlamaCpp, "`LLAMA_API_KEY`")] {
        fails(server, 401, &json!({"error": {"message": "no secret"}}), ErrorKind::Auth, variable).await;
    }
}

#[tokio::test]
async fn every_prefix_is_in_the_catalog() {
    for prefix in ["deepseek", "groq", "llama-cpp", "mistral", "ollama", "openai", "openrouter", "vllm"] {
        // Whether a key is set depends on the environment; whether the prefix is known does not.
        match model_named(&format!("{prefix}:maker/model:tag")) {
            Ok(name) => assert_eq!(name, format!("{prefix}:maker/model:tag")),
            Err(error) => assert!(error.to_string().contains("missing API key"), "{error}"),
        }
    }
}

fn model_named(name: &str) -> Result<String, ProviderError> {
    llm_do_providers::model(name).map(|model| model.name().to_owned())
}
