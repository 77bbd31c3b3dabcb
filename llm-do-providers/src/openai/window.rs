//! The window of a model, as servers report it that run models with any window, or have many models.

use serde_json::Value;

use crate::model::ContextWindow;

/// Where a server reports it, and where in the answer it is.
struct Report {
    provider: &'static str,
    /// The path, below the root of the server or below its base URL.
    path: Path,
    read: fn(&Value, &str) -> Option<ContextWindow>,
}

enum Path {
    Root(&'static str),
    Base(&'static str),
}

/// By the documentation of each, read 2026-11-29: <https://github.com/ggml-org/llama.cpp/tree/master/tools/server>,
/// <https://docs.ollama.com/api>, <https://openrouter.ai/docs/models>, <https://docs.vllm.ai/en/latest/serving/openai_compatible_server/>.
static REPORTS: [Report; 4] = [
    Report { provider: "llama-cpp", path: Path::Root("/props"), read: of_props },
    Report { provider: "ollama", path: Path::Root("/api/ps"), read: of_loaded },
    Report { provider: "openrouter", path: Path::Base("/models"), read: of_listed },
    Report { provider: "vllm", path: Path::Base("/models"), read: of_served },
];

/// Returns the path at which a server reports windows; `base` is the path of its base URL.
pub(super) fn path(provider: &str, base: &str) -> Option<String> {
    let report = REPORTS.iter().find(|report| report.provider == provider)?;
    Some(match report.path {
        Path::Root(path) => format!("{}{path}", base.strip_suffix("/v1").unwrap_or(base)),
        Path::Base(path) => format!("{base}{path}"),
    })
}

/// Reads the window of a model in the answer of its server.
pub(super) fn read(provider: &str, model: &str, answer: &Value) -> Option<ContextWindow> {
    let report = REPORTS.iter().find(|report| report.provider == provider)?;
    (report.read)(answer, model).filter(|window| window.for_input() > 0)
}

/// The window that each request has in llama.cpp, which serves one model.
fn of_props(answer: &Value, _: &str) -> Option<ContextWindow> {
    tokens(&answer["default_generation_settings"]["n_ctx"]).map(ContextWindow::new)
}

/// The window that Ollama has loaded the model with.
fn of_loaded(answer: &Value, model: &str) -> Option<ContextWindow> {
    let tagged = format!("{model}:latest");
    let is_it = |name: &Value| name.as_str().is_some_and(|name| name == model || name == tagged);
    let loaded =
        answer["models"].as_array()?.iter().find(|loaded| is_it(&loaded["model"]) || is_it(&loaded["name"]))?;
    tokens(&loaded["context_length"]).map(ContextWindow::new)
}

fn of_listed(answer: &Value, model: &str) -> Option<ContextWindow> {
    let listed = in_list(answer, model)?;
    let window = ContextWindow::new(tokens(&listed["context_length"])?);
    let output = tokens(&listed["top_provider"]["max_completion_tokens"]);
    Some(output.map_or(window, |tokens| window.max_output_tokens(tokens)))
}

fn of_served(answer: &Value, model: &str) -> Option<ContextWindow> {
    tokens(&in_list(answer, model)?["max_model_len"]).map(ContextWindow::new)
}

fn in_list<'a>(answer: &'a Value, model: &str) -> Option<&'a Value> {
    answer["data"].as_array()?.iter().find(|listed| listed["id"] == model)
}

fn tokens(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{path, read};
    use crate::model::ContextWindow;

    #[test]
    fn each_server_has_a_path_below_its_root_or_its_base() {
        let paths = [
            ("llama-cpp", "/v1", Some("/props")),
            ("llama-cpp", "", Some("/props")),
            ("ollama", "/box/v1", Some("/box/api/ps")),
            ("openrouter", "/api/v1", Some("/api/v1/models")),
            ("vllm", "/v1", Some("/v1/models")),
            ("openai", "/v1", None),
        ];
        for (provider, base, expected) in paths {
            assert_eq!(path(provider, base).as_deref(), expected, "{provider}");
        }
    }

    #[test]
    fn the_window_is_that_of_the_model_in_the_answer() {
        let props = json!({ "default_generation_settings": { "n_ctx": 8_192 } });
        let loaded = json!({ "models": [
            { "model": "other:8b", "context_length": 1 },
            { "name": "qwen3:latest", "model": "qwen3:latest", "context_length": 4_096 },
        ] });
        let listed = json!({ "data": [
            { "id": "lab/a", "context_length": 5 },
            { "id": "lab/b", "context_length": 131_072, "top_provider": { "max_completion_tokens": 16_384 } },
        ] });
        let served = json!({ "data": [{ "id": "lab/b", "max_model_len": 32_768 }] });
        let cases = [
            ("llama-cpp", "any", &props, Some(ContextWindow::new(8_192))),
            ("ollama", "qwen3", &loaded, Some(ContextWindow::new(4_096))),
            ("ollama", "qwen3:8b", &loaded, None),
            ("openrouter", "lab/b", &listed, Some(ContextWindow::new(131_072).max_output_tokens(16_384))),
            ("openrouter", "lab/c", &listed, None),
            ("vllm", "lab/b", &served, Some(ContextWindow::new(32_768))),
            ("vllm", "lab/b", &props, None),
            ("llama-cpp", "any", &json!("no"), None),
            ("llama-cpp", "any", &json!({ "default_generation_settings": { "n_ctx": 0 } }), None),
            ("openai", "any", &props, None),
        ];
        for (provider, model, answer, expected) in cases {
            assert_eq!(read(provider, model, answer), expected, "{provider}:{model}");
        }
    }
}
