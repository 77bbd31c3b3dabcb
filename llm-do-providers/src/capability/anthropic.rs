//! What models support over the Anthropic Messages API.

use serde::Deserialize;

use super::{NativeOutput, server_side_tools};
use crate::model::Profile;
use crate::server_side::ServerSideTool;

/// What a model supports; a row overrides the values of [`Default`].
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about a model")]
pub(crate) struct AnthropicCapabilities {
    /// The maximum number of tokens of an answer.
    pub(crate) max_output_tokens: u32,
    pub(crate) thinking: AnthropicThinking,
    /// Whether thoughts have no text unless a request asks for a summary; only for models with an effort.
    pub(crate) summary_on_request: bool,
    /// How thinking is turned off; only for models with an effort.
    pub(crate) thinking_off: ThinkingOff,
    pub(crate) sampling: Sampling,
    /// Whether a request may force the use of a tool.
    pub(crate) forced_tools: bool,
    /// Whether thoughts are refused once anything before them has changed.
    pub(crate) bound_thoughts: bool,
    pub(crate) native_output: NativeOutput,
    #[serde(deserialize_with = "server_side_tools")]
    pub(crate) server_side_tools: &'static [ServerSideTool],
    /// Whether the API searches tools for the model.
    pub(crate) tool_search: bool,
}

/// How thinking is requested from a model.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnthropicThinking {
    /// The model does not think.
    Never,
    /// With a budget in tokens; off by default.
    #[default]
    Budget,
    /// With the effort `low`, `medium` or `high`.
    Effort,
}

/// How thinking is turned off.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ThinkingOff {
    #[default]
    Disabled,
    BetweenTools,
    /// The model always thinks; `off` is sent as the effort `low`.
    Never,
}

/// Which of `temperature` and `top_p` a model accepts.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sampling {
    #[default]
    Both,
    /// Only one of the two.
    Either,
    Neither,
}

impl Default for AnthropicCapabilities {
    fn default() -> Self {
        Self {
            max_output_tokens: 8_192,
            thinking: AnthropicThinking::Budget,
            summary_on_request: false,
            thinking_off: ThinkingOff::Disabled,
            sampling: Sampling::Both,
            forced_tools: true,
            bound_thoughts: false,
            native_output: NativeOutput::Never,
            server_side_tools: &[],
            tool_search: false,
        }
    }
}

impl AnthropicCapabilities {
    /// Returns whether the API summarizes long conversations: for the models that think by effort, from Claude 4.6 on
    /// (<https://platform.claude.com/docs/en/build-with-claude/compaction-threshold>, read 2026-11-29).
    pub(crate) fn summarizes(&self) -> bool {
        self.thinking == AnthropicThinking::Effort
    }

    pub(crate) fn profile(&self) -> Profile {
        let profile = self.native_output.profile().with_server_side_tools(self.server_side_tools);
        profile.with_tool_search(self.tool_search)
    }
}

#[cfg(all(test, feature = "anthropic"))]
mod tests {
    use std::sync::Arc;

    use super::{AnthropicCapabilities, AnthropicThinking, Sampling, ThinkingOff};
    use crate::capability::CapabilityTable;
    use crate::model::Profile;
    use crate::server_side::ServerSideTool;

    fn of(model: &str) -> Arc<AnthropicCapabilities> {
        CapabilityTable::builtin().anthropic(model)
    }

    #[test]
    fn each_model_thinks_in_its_own_way() {
        use AnthropicThinking::{Budget, Effort, Never};
        use ThinkingOff::{BetweenTools, Disabled, Never as NotOff};
        let models = [
            ("claude-3-5-haiku-latest", Never, false, Disabled),
            ("claude-3-7-sonnet-20250219", Budget, false, Disabled),
            ("claude-sonnet-4-0", Budget, false, Disabled),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", Budget, false, Disabled),
            ("claude-opus-4-6", Effort, false, Disabled),
            ("claude-opus-4-8", Effort, true, Disabled),
            ("claude-opus-5", Effort, true, Disabled),
            ("claude-haiku-5-5", Effort, true, Disabled),
            ("anthropic/claude-sonnet-5-5", Effort, true, BetweenTools),
            ("claude-opus-5-5", Effort, true, NotOff),
            ("claude-mythos-preview", Effort, true, NotOff),
            ("claude-opus-7", Effort, true, NotOff),
            ("glm-5", Budget, false, Disabled),
        ];
        for (model, thinking, on_request, off) in models {
            let found = of(model);
            assert_eq!(
                (found.thinking, found.summary_on_request, found.thinking_off),
                (thinking, on_request, off),
                "{model}"
            );
        }
    }

    #[test]
    fn newer_models_refuse_more() {
        let refused = [
            ("claude-3-haiku-20240307", Sampling::Both, true),
            ("claude-3-7-sonnet-20250219", Sampling::Both, true),
            ("claude-sonnet-4-0", Sampling::Both, true),
            ("claude-opus-4-1", Sampling::Either, true),
            ("claude-sonnet-4-5", Sampling::Either, true),
            ("claude-opus-4-7", Sampling::Neither, true),
            ("claude-fable-5", Sampling::Neither, true),
            ("claude-fable-5-1", Sampling::Neither, false),
            ("claude-mythos-preview", Sampling::Neither, false),
            ("claude-haiku-5-5", Sampling::Neither, true),
            ("claude-sonnet-5-5", Sampling::Neither, false),
        ];
        for (model, sampling, forced) in refused {
            assert_eq!((of(model).sampling, of(model).forced_tools), (sampling, forced), "{model}");
        }
    }

    #[test]
    fn thoughts_are_bound_to_what_stands_before_them_since_5_1() {
        for model in ["claude-fable-5-1", "claude-mythos-5-1", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-6"]
        {
            assert!(of(model).bound_thoughts, "{model}");
        }
        for model in
            ["claude-fable-5", "claude-opus-5", "claude-mythos-preview", "claude-haiku-4-5-20251001", "glm-5.5"]
        {
            assert!(!of(model).bound_thoughts, "{model}");
        }
    }

    #[test]
    fn structured_output_came_with_4_5_and_server_side_tools_with_3_5() {
        let profile = |model| of(model).profile();
        assert!(!profile("claude-opus-4-1").native_output);
        assert!(profile("claude-opus-4-5").native_output);
        assert!(!profile("claude-3-opus-latest").runs(&ServerSideTool::WebFetch));
        assert!(profile("claude-3-5-haiku-latest").runs(&ServerSideTool::WEB_SEARCH));
        assert!(!profile("claude-3-5-sonnet-latest").runs(&ServerSideTool::CodeExecution));
        assert!(profile("claude-3-7-sonnet-latest").runs(&ServerSideTool::CodeExecution));
        let (opus, next) = (profile("claude-opus-5"), profile("claude-opus-5-5"));
        assert!(opus.native_output && !opus.runs(&ServerSideTool::WebFetch) && next.runs(&ServerSideTool::WebFetch));
        assert_eq!(profile("kimi-k3"), Profile::BASIC);
        let searches = |model| profile(model).tool_search;
        assert!(searches("claude-sonnet-4-5") && searches("claude-opus-5-5") && searches("claude-sonnet-5-5"));
        assert!(
            !searches("claude-haiku-4-5") && !searches("claude-haiku-5-5") && !searches("claude-3-7-sonnet-latest")
        );
    }

    #[test]
    fn each_model_writes_so_much_at_most() {
        let limits = [
            ("claude-3-opus-latest", 4_096),
            ("claude-3-5-sonnet-latest", 8_192),
            ("claude-opus-4-0", 32_000),
            ("claude-opus-4-1", 32_000),
            ("claude-sonnet-4", 64_000),
            ("claude-opus-5-5", 128_000),
            ("deepseek-chat", 8_192),
        ];
        for (model, tokens) in limits {
            assert_eq!(of(model).max_output_tokens, tokens, "{model}");
        }
    }
}
