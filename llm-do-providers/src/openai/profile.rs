//! What a model can do, by its name.

use super::family::Family;
use super::search;
use crate::model::Profile;

/// Returns what `model` can do with OpenAI, or with a server that is not known.
pub(super) fn direct(model: &str) -> Profile {
    Family::of(model).profile().with_server_side_tools(search::tools(model))
}

/// Returns what `model` can do with OpenRouter: by <https://openrouter.ai/docs/structured-outputs>, as far as what it says holds
/// for whoever serves a model.
pub(super) fn routed(model: &str) -> Profile {
    match model.split_once('/') {
        Some(("openai", name)) if !name.starts_with("gpt-oss") => Family::of(name).profile(),
        Some(("google", name)) if name.starts_with("gemini") => {
            Profile { native_output_with_tools: false, ..Profile::NATIVE_OUTPUT }
        }
        _ => Profile::NONE,
    }
}

#[cfg(test)]
mod tests {
    use crate::openai::server::Server;

    #[test]
    fn a_name_and_its_server_say_whether_answers_follow_a_schema_and_beside_tools() {
        let cases = [
            (Server::OpenAi, "gpt-4.1", true, true),
            (Server::OpenAi, "gpt-3.5-turbo", false, false),
            (Server::OpenAi, "qwen3-4b", true, true),
            (Server::OpenRouter, "openai/gpt-5-mini", true, true),
            (Server::OpenRouter, "openai/gpt-oss-120b", false, false),
            (Server::OpenRouter, "google/gemini-2.5-pro", true, false),
            (Server::OpenRouter, "meta-llama/llama-4-scout", false, false),
            (Server::DeepSeek, "deepseek-v4-pro", false, false),
            (Server::Groq, "openai/gpt-oss-120b", false, false),
            (Server::Mistral, "mistral-medium-latest", true, false),
            (Server::Ollama, "qwen3:8b", true, false),
            (Server::LlamaCpp, "any", true, false),
            (Server::Vllm, "Qwen/Qwen3-8B", true, false),
        ];
        for (server, model, native, with_tools) in cases {
            let profile = (server.dialect().profile)(model);
            assert_eq!(
                (profile.native_output, profile.native_output_with_tools),
                (native, with_tools),
                "{server:?} {model}"
            );
        }
    }
}
