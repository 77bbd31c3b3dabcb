//! What models support over OpenAI's APIs, at OpenAI and at other servers with chat completions.

use serde::Deserialize;

use super::{NativeOutput, server_side_tools};
use crate::model::Profile;
use crate::server_side::ServerSideTool;
use crate::settings::ThinkingLevel;

/// What a model supports over chat completions, and OpenAI's models over the Responses API; a row overrides the values
/// of [`Default`].
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of requests that is taken or refused")]
pub(crate) struct OpenAiCapabilities {
    pub(crate) thinking: OpenAiThinking,
    pub(crate) efforts: Efforts,
    /// The value of `reasoning_format`, if thoughts would otherwise be part of the text.
    pub(crate) reasoning_format: Option<String>,
    /// Whether the model supports tools over chat completions.
    pub(crate) tools_in_chat: ToolsInChat,
    pub(crate) native_output: NativeOutput,
    /// The tools that the server runs over chat completions.
    #[serde(deserialize_with = "server_side_tools")]
    pub(crate) server_side_tools: &'static [ServerSideTool],
    /// Whether the model accepts `temperature`, `top_p` and penalties while it does not think.
    pub(crate) sampling: bool,
    pub(crate) parallel_tool_calls: bool,
    pub(crate) stop: bool,
    /// Whether the model reads images, if the server accepts them.
    pub(crate) images: bool,
    /// Whether the Responses API searches deferred tools for the model.
    pub(crate) tool_search: bool,
    /// Whether the Responses API runs the model's code, which may call tools.
    pub(crate) programmatic_tool_calling: bool,
}

/// Whether a model thinks. While it does, it accepts neither `temperature`, `top_p` nor penalties.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OpenAiThinking {
    /// The model is not one of OpenAI's: its server decides what it accepts.
    #[default]
    Unknown,
    Never,
    OffByDefault,
    OnByDefault,
    Always,
}

/// Whether a model supports tools over chat completions: some of OpenAI's models support them only over the Responses
/// API.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToolsInChat {
    #[default]
    Always,
    /// Only with the effort `none`.
    WithoutThinking,
    Never,
}

/// The word that is sent for each thinking level; `None` sends nothing.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Efforts {
    off: Option<String>,
    minimal: Option<String>,
    low: Option<String>,
    medium: Option<String>,
    high: Option<String>,
}

impl Default for OpenAiCapabilities {
    fn default() -> Self {
        Self {
            thinking: OpenAiThinking::Unknown,
            efforts: Efforts::new(["none", "minimal", "low", "medium", "high"]),
            reasoning_format: None,
            tools_in_chat: ToolsInChat::Always,
            native_output: NativeOutput::WithTools,
            server_side_tools: &[],
            sampling: true,
            parallel_tool_calls: true,
            stop: true,
            images: true,
            tool_search: false,
            programmatic_tool_calling: false,
        }
    }
}

impl OpenAiCapabilities {
    /// Returns the word that is sent for a level, if any.
    pub(crate) fn effort(&self, level: Option<ThinkingLevel>) -> Option<&str> {
        if self.may_think() { self.efforts.word(level?) } else { None }
    }

    /// Returns the word that is sent for a level over chat completions, in requests with or without tools.
    pub(crate) fn effort_in_chat(&self, level: Option<ThinkingLevel>, has_tools: bool) -> Option<&str> {
        if has_tools && self.tools_in_chat == ToolsInChat::WithoutThinking { Some("none") } else { self.effort(level) }
    }

    /// Whether the model may think. A model that does not think refuses a request for encrypted thoughts.
    pub(crate) fn may_think(&self) -> bool {
        self.thinking != OpenAiThinking::Never
    }

    /// Whether the model is known to think, and so supports only `max_completion_tokens`.
    pub(crate) fn is_thinking(&self) -> bool {
        !matches!(self.thinking, OpenAiThinking::Unknown | OpenAiThinking::Never)
    }

    /// Whether the model accepts `temperature` and the other sampling settings with this effort.
    pub(crate) fn samples(&self, effort: Option<&str>) -> bool {
        match self.thinking {
            OpenAiThinking::Unknown | OpenAiThinking::Never => self.sampling,
            OpenAiThinking::OffByDefault => effort.is_none_or(|effort| effort == "none"),
            OpenAiThinking::OnByDefault => effort == Some("none"),
            OpenAiThinking::Always => false,
        }
    }

    pub(crate) fn profile(&self) -> Profile {
        self.native_output.profile().with_server_side_tools(self.server_side_tools)
    }
}

impl Efforts {
    fn new(words: [&str; 5]) -> Self {
        let [off, minimal, low, medium, high] = words.map(|word| Some(word.to_owned()));
        Self { off, minimal, low, medium, high }
    }

    /// Returns the word for a level; numbers of tokens have no word, and are sent as the nearest level.
    pub(crate) fn word(&self, level: ThinkingLevel) -> Option<&str> {
        let word = match level {
            ThinkingLevel::Off | ThinkingLevel::Tokens(0) => &self.off,
            ThinkingLevel::Minimal => &self.minimal,
            ThinkingLevel::Low | ThinkingLevel::Tokens(..=2048) => &self.low,
            ThinkingLevel::Medium | ThinkingLevel::Tokens(..=8192) => &self.medium,
            ThinkingLevel::High | ThinkingLevel::Tokens(_) => &self.high,
        };
        word.as_deref()
    }
}

#[cfg(all(test, feature = "openai"))]
mod tests {
    use super::{OpenAiThinking, ToolsInChat};
    use crate::capability::CapabilityTable;
    use crate::server_side::ServerSideTool;
    use crate::settings::ThinkingLevel;

    #[test]
    fn a_name_decides_whether_the_model_thinks_and_which_settings_it_accepts() {
        use OpenAiThinking::{Always, Never, OffByDefault, OnByDefault, Unknown};
        use ToolsInChat::{Always as InChat, Never as NotInChat, WithoutThinking};
        // Name, thinking, tools in chat, native output, sampling, parallel calls, stop.
        let models = [
            ("gpt-3.5-turbo", Never, InChat, false, true, true, true),
            ("gpt-4-turbo-2024-04-09", Never, InChat, false, true, true, true),
            ("gpt-4o-2024-05-13", Never, InChat, false, true, true, true),
            ("gpt-4o-mini", Never, InChat, true, true, true, true),
            ("gpt-4.1-nano", Never, InChat, true, true, true, true),
            ("gpt-5-chat-latest", Never, InChat, true, true, true, true),
            ("gpt-5.3-chat-latest", Never, InChat, true, true, true, true),
            ("gpt-5-search-api", Never, InChat, true, false, false, false),
            ("gpt-4o-audio-preview", Never, InChat, false, true, true, true),
            ("gpt-audio-mini", Never, InChat, false, true, true, true),
            ("gpt-4o-search-preview-2025-03-11", Never, InChat, true, false, true, true),
            ("openai/gpt-4o-mini-search-preview", Never, InChat, true, false, true, true),
            ("o1", Always, InChat, true, true, false, true),
            ("o1-mini-2024-09-12", Always, InChat, false, true, false, true),
            ("o1-2024-12-17", Always, InChat, true, true, false, true),
            ("o3-mini", Always, InChat, true, true, false, true),
            ("o3", Always, InChat, true, true, false, false),
            ("openai/o4-mini", Always, InChat, true, true, false, false),
            ("o4-mini-deep-research", Always, InChat, true, true, false, false),
            ("o3-pro", Always, InChat, true, true, false, false),
            ("gpt-5-pro-2025-10-06", Always, InChat, true, true, true, false),
            ("gpt-5-codex", Always, InChat, true, true, true, false),
            ("gpt-5-nano-2025-08-07", Always, InChat, true, true, true, false),
            ("gpt-5.1", OffByDefault, InChat, true, true, true, false),
            ("gpt-5.1-codex-max", Always, InChat, true, true, true, false),
            ("gpt-5.2-chat-latest", Always, InChat, true, true, true, false),
            ("gpt-5.2-pro", Always, InChat, true, true, true, false),
            ("gpt-5.3-codex-spark", OnByDefault, InChat, true, true, true, false),
            ("gpt-5.4-mini", OffByDefault, WithoutThinking, true, true, true, false),
            ("gpt-5.5-pro", Always, InChat, true, true, true, false),
            ("gpt-5.6-terra", OnByDefault, WithoutThinking, true, true, true, false),
            ("gpt-6-astra", Always, NotInChat, true, true, true, false),
            ("gpt-6-sol", OnByDefault, WithoutThinking, true, true, true, false),
            ("gpt-6.1-sol", Always, NotInChat, true, true, true, false),
            ("gpt-6.1-terra", OnByDefault, WithoutThinking, true, true, true, false),
            ("gpt-6.2-sol", Always, NotInChat, true, true, true, false),
            ("gpt-7", Always, InChat, true, true, true, false),
            ("gpt-7-pro", Always, InChat, true, true, true, false),
            ("gpt-oss-20b", Unknown, InChat, true, true, true, true),
            ("ft:gpt-4o-mini:acme:our-pro", Never, InChat, true, true, true, true),
            ("olmo-3", Unknown, InChat, true, true, true, true),
            ("o", Unknown, InChat, true, true, true, true),
            ("qwen3-4b", Unknown, InChat, true, true, true, true),
            ("", Unknown, InChat, true, true, true, true),
        ];
        let table = CapabilityTable::builtin();
        for (model, thinking, tools, native, sampling, parallel, stop) in models {
            let found = table.openai("openai", model);
            assert_eq!((found.thinking, found.tools_in_chat), (thinking, tools), "{model}");
            assert_eq!(found.profile().native_output, native, "{model}");
            assert_eq!((found.sampling, found.parallel_tool_calls, found.stop), (sampling, parallel, stop), "{model}");
            assert_eq!(*table.openai("openai-responses", model), *found, "{model}");
        }
    }

    #[test]
    fn a_level_goes_as_a_word_that_the_model_has() {
        let words = [
            ("gpt-4o", ThinkingLevel::Low, None),
            ("gpt-5-mini", ThinkingLevel::Off, Some("minimal")),
            ("o3", ThinkingLevel::Off, Some("low")),
            ("o3-deep-research", ThinkingLevel::High, Some("medium")),
            ("o1-mini", ThinkingLevel::High, None),
            ("gpt-5.2", ThinkingLevel::Off, Some("none")),
            ("gpt-5.2", ThinkingLevel::Minimal, Some("low")),
            ("gpt-5.2-chat-latest", ThinkingLevel::High, None),
            ("gpt-5-pro", ThinkingLevel::Off, Some("high")),
            ("gpt-5-pro", ThinkingLevel::Medium, Some("high")),
            ("gpt-5.2-pro", ThinkingLevel::Low, Some("medium")),
            ("gpt-5.2-pro", ThinkingLevel::High, Some("high")),
            ("gpt-5.3-codex", ThinkingLevel::Off, Some("none")),
            ("gpt-5.2-codex", ThinkingLevel::Off, Some("low")),
            ("gpt-6.1-terra", ThinkingLevel::Off, Some("none")),
            ("gpt-6.2-sol", ThinkingLevel::Off, Some("low")),
            ("gpt-6-astra", ThinkingLevel::Tokens(0), Some("low")),
            ("qwen3-4b", ThinkingLevel::Minimal, Some("minimal")),
            ("qwen3-4b", ThinkingLevel::Tokens(9000), Some("high")),
        ];
        let table = CapabilityTable::builtin();
        for (model, level, word) in words {
            assert_eq!(table.openai("openai", model).effort(Some(level)), word, "{model}");
        }
        assert_eq!(table.openai("openai", "gpt-5.6").effort(None), None);
        let codex = table.openai("openai", "gpt-5.3-codex");
        assert!(codex.samples(Some("none")) && !codex.samples(None) && !codex.samples(Some("low")));
    }

    #[test]
    fn only_the_models_made_for_it_search_the_web() {
        let tools = |model| CapabilityTable::builtin().openai("openai", model).profile().server_side_tools;
        for model in ["gpt-4o-search-preview", "gpt-5-search-api-2025-10-14", "openai/gpt-4o-mini-search-preview"] {
            assert_eq!(tools(model), [ServerSideTool::WEB_SEARCH], "{model}");
        }
        for model in ["gpt-4o", "gpt-5", "my-gpt-5-search-api", "gpt-5-search-apis"] {
            assert_eq!(tools(model), [], "{model}");
        }
    }

    #[test]
    fn a_name_and_its_server_decide_whether_answers_follow_a_schema_and_with_tools() {
        let cases = [
            ("openai", "gpt-4.1", true, true),
            ("openai", "gpt-3.5-turbo", false, false),
            ("openai", "qwen3-4b", true, true),
            ("openrouter", "openai/gpt-5-mini", true, true),
            ("openrouter", "openai/gpt-3.5-turbo", false, false),
            ("openrouter", "openai/gpt-oss-120b", false, false),
            ("openrouter", "google/gemini-2.5-pro", true, false),
            ("openrouter", "meta-llama/llama-4-scout", false, false),
            ("deepseek", "deepseek-v4-pro", false, false),
            ("groq", "openai/gpt-oss-120b", false, false),
            ("mistral", "mistral-medium-latest", true, false),
            ("ollama", "qwen3:8b", true, false),
            ("llama-cpp", "any", true, false),
            ("vllm", "Qwen/Qwen3-8B", true, false),
            ("moonshot", "kimi-k3", true, true),
        ];
        for (provider, model, native, with_tools) in cases {
            let profile = CapabilityTable::builtin().openai(provider, model).profile();
            assert_eq!(
                (profile.native_output, profile.native_output_with_tools),
                (native, with_tools),
                "{provider}:{model}"
            );
        }
    }
}
