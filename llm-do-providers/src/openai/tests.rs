//! The servers by their names, and their variables.

use std::iter::successors;

use super::dialect::Field;
use super::{ClientConfig, OpenAiBuilder, OpenAiModel, Server};
use crate::error::{ErrorKind, ProviderError};
use crate::model::Model;

fn at(server: Server, variables: &[(&str, &str)]) -> Result<OpenAiModel, ProviderError> {
    let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    OpenAiBuilder::new(server, ClientConfig::from_variables(&server.dialect().server, "gpt-5", find)?).build()
}

fn with(variables: &[(&str, &str)]) -> Result<OpenAiModel, ProviderError> {
    at(Server::OpenAi, variables)
}

#[test]
fn the_default_server_needs_a_key() {
    for variables in [&[][..], &[("OPENAI_API_KEY", "")]] {
        let error = with(variables).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains("set `OPENAI_API_KEY`"), "{error}");
    }
    let model = with(&[("OPENAI_API_KEY", "sk-1")]).unwrap();
    assert_eq!(model.name(), "openai:gpt-5");
    assert!(model.dialect.takes(Field::MaxCompletionTokens));
}

#[test]
fn another_server_needs_no_key() {
    let model = with(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/")]).unwrap();
    assert!(model.dialect.takes(Field::MaxTokens));
}

#[test]
fn a_key_that_cannot_be_sent_is_blamed_on_its_variable() {
    let error = with(&[("OPENAI_API_KEY", "sk-secret\n")]).unwrap_err().to_string();
    assert!(error.contains("`OPENAI_API_KEY`"), "{error}");
    assert!(!error.contains("sk-secret"), "{error}");
}

#[test]
fn an_invalid_base_url_is_refused() {
    for url in ["localhost:8080", "ftp://host/v1", "not a url", "/v1"] {
        let error = with(&[("OPENAI_BASE_URL", url)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{url}");
    }
}

#[test]
fn a_model_does_not_show_its_key() {
    let model = with(&[("OPENAI_API_KEY", "sk-secret")]).unwrap();
    assert!(!format!("{model:?}").contains("sk-secret"));
}

/// The server after this one; of a new server, the compiler asks for its place here.
fn next(server: Server) -> Option<Server> {
    match server {
        Server::DeepSeek => Some(Server::Groq),
        Server::Groq => Some(Server::LlamaCpp),
        Server::LlamaCpp => Some(Server::Mistral),
        Server::Mistral => Some(Server::Ollama),
        Server::Ollama => Some(Server::OpenAi),
        Server::OpenAi => Some(Server::OpenRouter),
        Server::OpenRouter => Some(Server::Vllm),
        Server::Vllm => None,
    }
}

#[test]
fn the_catalog_knows_each_server_by_its_prefix() {
    let servers: Vec<_> = successors(Some(Server::DeepSeek), |server| next(*server)).collect();
    assert_eq!(servers.len(), 8);
    for server in servers {
        let name = format!("{}:gpt-5", server.prefix());
        // The outcome depends on the environment; who is asked does not.
        match crate::model(&name) {
            Ok(model) => assert_eq!(model.name(), name),
            Err(error) => {
                assert_eq!(error.provider(), server.prefix());
                let text = error.to_string();
                assert!(!text.contains("no provider") && !text.contains("two providers"), "{text}");
            }
        }
    }
}

#[test]
fn an_error_for_a_missing_key_names_the_variable_of_its_server() {
    for (server, key, url) in [
        (Server::DeepSeek, "DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
        (Server::Groq, "GROQ_API_KEY", "GROQ_BASE_URL"),
        (Server::Mistral, "MISTRAL_API_KEY", "MISTRAL_BASE_URL"),
        (Server::OpenRouter, "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
    ] {
        let error = at(server, &[("OPENAI_API_KEY", "sk-1")]).unwrap_err();
        assert_eq!((error.kind(), error.provider()), (ErrorKind::Configuration, server.prefix()));
        assert!(error.to_string().contains(&format!("set `{key}`, or set `{url}`")), "{error}");
        assert_eq!(at(server, &[(key, "k")]).unwrap().name(), format!("{}:gpt-5", server.prefix()));
        assert!(at(server, &[(url, "http://127.0.0.1:1")]).is_ok(), "another server needs no key");
    }
}

#[test]
fn local_servers_need_no_key() {
    for server in [Server::LlamaCpp, Server::Ollama, Server::Vllm] {
        assert_eq!(at(server, &[]).unwrap().name(), format!("{}:gpt-5", server.prefix()));
    }
}
