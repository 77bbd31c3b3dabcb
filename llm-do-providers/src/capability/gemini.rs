//! What models support over the Gemini API.

use serde::Deserialize;

use super::{NativeOutput, server_side_tools};
use crate::model::Profile;
use crate::server_side::ServerSideTool;

/// What a model supports; a row overrides the values of [`Default`].
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GeminiCapabilities {
    pub(crate) thinking: GeminiThinking,
    /// Whether the model accepts `presence_penalty` and `frequency_penalty`.
    pub(crate) penalties: bool,
    /// Whether the model supports functions.
    pub(crate) tools: bool,
    /// With tools: one request may have functions, Google's tools and an output schema.
    pub(crate) native_output: NativeOutput,
    #[serde(deserialize_with = "server_side_tools")]
    pub(crate) server_side_tools: &'static [ServerSideTool],
    /// Whether the rules of version 3 apply: calls are sent back with a thought signature, results may contain files,
    /// and a request asks for the uses of Google's tools to be part of the answer.
    pub(crate) version_3_rules: bool,
}

/// How thinking is requested from a model.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum GeminiThinking {
    /// The model does not think.
    #[default]
    Never,
    /// Thoughts can only be shown or hidden.
    Shown,
    /// With a budget in this range of tokens, or 0 if thinking can be turned off.
    Budget { min: u32, max: u32, can_turn_off: bool },
    /// With a level: `low`, `high`, and optionally `minimal` and `medium`.
    Levels { minimal: bool, medium: bool },
}

impl Default for GeminiCapabilities {
    fn default() -> Self {
        Self {
            thinking: GeminiThinking::Never,
            penalties: true,
            tools: true,
            native_output: NativeOutput::WithTools,
            server_side_tools: &[],
            version_3_rules: false,
        }
    }
}

impl GeminiCapabilities {
    /// Whether one request may have functions, Google's tools and an output schema.
    pub(crate) fn combines_tools(&self) -> bool {
        self.native_output == NativeOutput::WithTools
    }

    pub(crate) fn makes_images(&self) -> bool {
        self.server_side_tools.contains(&ServerSideTool::ImageGeneration)
    }

    pub(crate) fn profile(&self) -> Profile {
        let profile = self.native_output.profile().with_server_side_tools(self.server_side_tools);
        if self.tools { profile } else { profile.without_tools() }
    }
}

#[cfg(all(test, feature = "gemini"))]
mod tests {
    use super::GeminiThinking;
    use crate::capability::CapabilityTable;
    use crate::server_side::ServerSideTool;

    const ALL: [ServerSideTool; 3] =
        [ServerSideTool::WEB_SEARCH, ServerSideTool::WebFetch, ServerSideTool::CodeExecution];

    #[test]
    fn a_name_decides_how_thinking_is_set() {
        let budget = |min, max, can_turn_off| GeminiThinking::Budget { min, max, can_turn_off };
        let levels = |minimal, medium| GeminiThinking::Levels { minimal, medium };
        let cases = [
            ("gemini-2.5-pro", budget(128, 32_768, false)),
            ("gemini-2.5-flash-preview-09-2025", budget(1, 24_576, true)),
            ("models/gemini-2.5-flash-lite", budget(512, 24_576, true)),
            ("gemini-3-pro-preview", levels(false, false)),
            ("gemini-3.1-pro-preview", levels(false, true)),
            ("gemini-3-flash-preview", levels(true, true)),
            ("gemini-3.1-flash-lite", levels(true, true)),
            ("gemini-3.7-flash", levels(false, true)),
            ("gemini-flash-latest", levels(false, true)),
            ("gemini-4-argon", levels(false, true)),
            ("gemini-3-pro-image-preview", GeminiThinking::Shown),
            ("gemini-2.5-flash-image", GeminiThinking::Never),
            ("gemini-2.0-flash", GeminiThinking::Never),
            ("gemma-3-27b-it", GeminiThinking::Never),
        ];
        for (name, thinking) in cases {
            assert_eq!(CapabilityTable::builtin().gemini(name).thinking, thinking, "{name}");
        }
    }

    #[test]
    fn a_name_decides_what_can_be_combined() {
        for (name, combines) in [("gemini-2.5-pro", false), ("gemini-3-flash", true), ("tunedModels/ours", true)] {
            let found = CapabilityTable::builtin().gemini(name);
            assert_eq!(found.profile().native_output_with_tools, combines, "{name}");
        }
    }

    #[test]
    fn a_name_decides_which_tools_google_runs() {
        let runs = |name: &str, tool: &ServerSideTool| CapabilityTable::builtin().gemini(name).profile().runs(tool);
        for name in ["gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-flash-latest"] {
            assert!(ALL.iter().all(|tool| runs(name, tool)), "{name}");
            assert!(!runs(name, &ServerSideTool::ImageGeneration), "{name}");
        }
        assert!(runs("gemini-2.5-flash-image", &ServerSideTool::ImageGeneration));
        assert!(!CapabilityTable::builtin().gemini("gemini-2.5-flash-image").profile().tools);
        assert!(runs("gemini-3-pro-image-preview", &ServerSideTool::WEB_SEARCH));
        assert!(!runs("gemini-2.0-flash", &ServerSideTool::WebFetch));
        assert!(!runs("gemini-2.0-flash-lite", &ServerSideTool::WEB_SEARCH));
        assert!(!runs("gemini-1.5-pro", &ServerSideTool::WEB_SEARCH));
    }

    #[test]
    fn models_of_images_and_speech_and_gemma_3_call_no_functions_and_follow_no_schema() {
        let cases = [
            ("gemini-2.5-pro-preview-tts", false),
            ("gemini-2.5-flash-lite-preview-tts", false),
            ("gemini-3.8-flash-lite-tts", false),
            ("gemini-3-pro-image-preview", false),
            ("gemini-3.1-flash-lite-image", false),
            ("gemma-3-27b-it", false),
            ("gemma-4-31b-it", true),
        ];
        for (name, can) in cases {
            let profile = CapabilityTable::builtin().gemini(name).profile();
            assert_eq!((profile.tools, profile.native_output), (can, can), "{name}");
        }
    }

    #[test]
    fn only_2_0_and_other_models_take_penalties() {
        for (name, penalties) in [("gemini-2.0-flash", true), ("gemini-2.5-flash", false), ("gemma-3-27b-it", true)] {
            assert_eq!(CapabilityTable::builtin().gemini(name).penalties, penalties, "{name}");
        }
    }
}
