//! The thinking budget, the maximum length of an answer, and the settings that depend on them.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/thinking>,
//! <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> and
//! <https://platform.claude.com/docs/en/build-with-claude/effort>.

use super::wire::{BlockBinding, ThinkingConfig};
use super::{PROVIDER, compaction};
use crate::capability::{AnthropicCapabilities, AnthropicThinking, Sampling, ThinkingOff};
use crate::message::{Message, ResponsePart};
use crate::settings::{Settings, ThinkingLevel, Warnings};

/// The default of `max_tokens`: at about 50 tokens per second, such an answer arrives within the default timeout.
const USUAL_TOKENS: u32 = 32_000;
/// The minimum budget of the API, in tokens.
const LEAST_BUDGET: u32 = 1_024;
/// The tokens reserved for the answer itself next to a large budget.
const ROOM: u32 = 8_192;

/// The settings to send.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) thinking: Option<ThinkingConfig>,
    pub(super) effort: Option<&'static str>,
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    /// Whether the use of a tool may be forced.
    pub(super) forces_tools: bool,
    /// Whether the model continues an answer at the end of the conversation.
    pub(super) continues_answers: bool,
    /// The index of the first message whose thoughts are sent back.
    pub(super) thoughts_from: usize,
    /// From how many input tokens on the server summarizes the conversation.
    pub(super) compact_at: Option<u32>,
    /// The settings that are not sent as they were set.
    pub(super) warnings: Warnings,
}

impl Plan {
    /// Returns the settings to send to a model with `capabilities`.
    pub(super) fn new(capabilities: &AnthropicCapabilities, settings: &Settings, messages: &[Message]) -> Self {
        let mut plan = Self {
            max_tokens: settings.max_tokens.unwrap_or(USUAL_TOKENS.min(capabilities.max_output_tokens)),
            forces_tools: capabilities.forced_tools,
            ..Self::default()
        };
        match (capabilities.thinking, settings.thinking) {
            (_, None) => {}
            (AnthropicThinking::Never, Some(level)) if level.is_off() => {}
            (AnthropicThinking::Never, Some(_)) => {
                plan.warnings.not_sent("thinking", "the model does not support thinking");
            }
            (AnthropicThinking::Budget, Some(level)) => plan.set_budget(capabilities, settings, level, messages),
            (AnthropicThinking::Effort, Some(level)) => plan.set_effort(capabilities, level),
        }
        plan.continues_answers = capabilities.thinking != AnthropicThinking::Effort && plan.thinking.is_none();
        plan.set_sampling(capabilities, settings);
        plan.warn_of_absent_fields(settings);
        plan.compact_at = compaction::trigger(settings, capabilities.summarizes(), &mut plan.warnings);
        // The API then supports no `block_binding`, so thoughts of earlier turns, which may be stale, are left out.
        let is_quiet = matches!(plan.thinking, Some(ThinkingConfig::Disabled | ThinkingConfig::BetweenTools));
        if capabilities.bound_thoughts && is_quiet {
            plan.thoughts_from = turn(messages);
        }
        plan
    }

    /// Asks the server to drop thoughts in `messages` whose preceding messages have changed.
    ///
    /// Models with bound thoughts think by default, so the explicit setting changes nothing else.
    pub(super) fn drop_stale_thoughts(&mut self, messages: &[Message]) {
        let mut parts = messages.iter().filter_map(answer).flatten();
        let display = match self.thinking {
            None => None,
            Some(ThinkingConfig::Adaptive { display, .. }) => display,
            Some(_) => return,
        };
        if parts.any(is_thought) {
            self.thinking = Some(ThinkingConfig::Adaptive { display, block_binding: Some(BlockBinding::DROPS) });
        }
    }

    /// Sets the thinking budget. A limit that the user set stays, and so does a valid budget in tokens; the budget of a
    /// level is reduced to fit.
    fn set_budget(
        &mut self,
        capabilities: &AnthropicCapabilities,
        settings: &Settings,
        level: ThinkingLevel,
        messages: &[Message],
    ) {
        let budget = budget(level);
        if budget == 0 {
            return;
        }
        if began_without_thought(messages) {
            let reason = "the API does not allow thinking in the middle of a turn that began without it";
            self.warnings.not_sent("thinking", reason);
            return;
        }
        if settings.max_tokens.is_none() {
            self.max_tokens = self.max_tokens.max(budget.saturating_add(ROOM)).min(capabilities.max_output_tokens);
        }
        let most = (self.max_tokens / 2).max(self.max_tokens.saturating_sub(ROOM));
        let is_as_set = matches!(level, ThinkingLevel::Tokens(_)) && budget < self.max_tokens;
        let budget_tokens = if is_as_set { budget } else { budget.min(most.max(LEAST_BUDGET)) };
        if budget_tokens >= self.max_tokens {
            self.warnings.not_sent("thinking", "`max_tokens` leaves no room for the minimum budget of 1024 tokens");
            return;
        }
        let reason =
            format!("a budget must be at least {LEAST_BUDGET}, and below `max_tokens`, which is {}", self.max_tokens);
        self.warnings.thinking_as_tokens(level, budget_tokens, &reason);
        self.thinking = Some(ThinkingConfig::Enabled { budget_tokens });
        // "Thinking may not be enabled when tool_choice forces tool use."
        self.forces_tools = false;
    }

    fn set_effort(&mut self, capabilities: &AnthropicCapabilities, level: ThinkingLevel) {
        let is_off = level.is_off();
        match capabilities.thinking_off {
            ThinkingOff::Disabled if is_off => self.thinking = Some(ThinkingConfig::Disabled),
            ThinkingOff::BetweenTools if is_off => {
                self.warnings
                    .changed("thinking", "`off` sent as `between_tools`, the lowest level that the model accepts");
                self.thinking = Some(ThinkingConfig::BetweenTools);
            }
            _ => {
                let display = capabilities.summary_on_request.then_some("summarized");
                self.thinking = (!is_off).then_some(ThinkingConfig::Adaptive { display, block_binding: None });
                let word = effort(level);
                self.warnings.thinking_as(level, word);
                self.effort = Some(word);
            }
        }
    }

    /// Sets the sampling settings, which a model does not accept while it thinks.
    fn set_sampling(&mut self, capabilities: &AnthropicCapabilities, settings: &Settings) {
        let thinks = !matches!(self.thinking, None | Some(ThinkingConfig::Disabled));
        let sampling = if thinks { Sampling::Neither } else { capabilities.sampling };
        let is_sampled = sampling != Sampling::Neither;
        let reason =
            if thinks { "the model does not accept it while thinking is on" } else { "the model does not accept it" };
        self.temperature = self.warnings.accept("temperature", settings.temperature, is_sampled, reason);
        let has_both = sampling == Sampling::Either && self.temperature.is_some();
        let reason = if has_both { "the model does not accept it together with `temperature`" } else { reason };
        self.top_p = self.warnings.accept("top_p", settings.top_p, is_sampled && !has_both, reason);
    }

    /// Warns that code may make several calls.
    pub(super) fn warn_of_parallel_calls(&mut self, settings: &Settings) {
        if settings.parallel_tool_calls == Some(false) {
            self.warnings.not_sent("parallel_tool_calls", "the API has no limit for code that calls tools");
        }
    }

    fn warn_of_absent_fields(&mut self, settings: &Settings) {
        let absent = [
            ("seed", settings.seed.is_some()),
            ("presence_penalty", settings.presence_penalty.is_some()),
            ("frequency_penalty", settings.frequency_penalty.is_some()),
        ];
        self.warnings.no_field(&absent, "the Messages API has no field for it");
    }
}

/// Returns the budget for a level, in tokens; 0 for none.
fn budget(level: ThinkingLevel) -> u32 {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Tokens(0) => 0,
        ThinkingLevel::Minimal => LEAST_BUDGET,
        ThinkingLevel::Low => 2_048,
        ThinkingLevel::Medium => 8_192,
        ThinkingLevel::High => 16_384,
        ThinkingLevel::Tokens(tokens) => tokens.max(LEAST_BUDGET),
    }
}

/// Returns the word for a level; numbers of tokens have no word, and are sent as the nearest level.
fn effort(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low | ThinkingLevel::Tokens(..=2_048) => "low",
        ThinkingLevel::Medium | ThinkingLevel::Tokens(..=8_192) => "medium",
        ThinkingLevel::High | ThinkingLevel::Tokens(_) => "high",
    }
}

/// Whether the current turn began without a thought of this provider, for example with another model: the API then
/// refuses to enable thinking.
fn began_without_thought(messages: &[Message]) -> bool {
    let mut answers = messages[turn(messages)..].iter().filter_map(answer);
    answers.next().is_some_and(|parts| !parts.first().is_some_and(is_thought))
}

/// Returns the start of the current turn, after the user's last message.
fn turn(messages: &[Message]) -> usize {
    messages.iter().rposition(|message| matches!(message, Message::User { .. })).map_or(0, |place| place + 1)
}

/// Returns the parts of a message of the model.
pub(super) fn answer(message: &Message) -> Option<&[ResponsePart]> {
    match message {
        Message::Assistant { parts } => Some(parts),
        _ => None,
    }
}

fn is_thought(part: &ResponsePart) -> bool {
    let ResponsePart::Thinking(thought) = part else { return false };
    thought.provider_data.as_ref().is_some_and(|data| data.of(PROVIDER).is_some())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Plan, ThinkingConfig};
    use crate::capability::CapabilityTable;
    use crate::message::{Message, ProviderData, ResponsePart, Thinking, ToolCall, ToolResult};
    use crate::settings::{Settings, ThinkingLevel, Warnings};

    fn plan(model: &str, settings: &Settings) -> Plan {
        Plan::new(&CapabilityTable::builtin().anthropic(model), settings, &[])
    }

    fn thinking(model: &str, level: impl Into<ThinkingLevel>) -> (Option<ThinkingConfig>, Option<&'static str>) {
        let plan = plan(model, &Settings::new().thinking(level));
        (plan.thinking, plan.effort)
    }

    fn budget(budget_tokens: u32) -> ThinkingConfig {
        ThinkingConfig::Enabled { budget_tokens }
    }

    #[test]
    fn thinking_is_not_sent_unless_it_is_set() {
        for model in ["claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5-5"] {
            let plan = plan(model, &Settings::new());
            assert_eq!((plan.thinking, plan.effort, plan.max_tokens), (None, None, 32_000), "{model}");
        }
    }

    #[test]
    fn a_level_is_sent_as_the_family_expects_it() {
        let adaptive = |display| Some(ThinkingConfig::Adaptive { display, block_binding: None });
        assert_eq!(thinking("claude-sonnet-4-5", ThinkingLevel::Medium), (Some(budget(8_192)), None));
        assert_eq!(thinking("claude-opus-4-6", ThinkingLevel::Medium), (adaptive(None), Some("medium")));
        assert_eq!(thinking("claude-opus-5", ThinkingLevel::Minimal), (adaptive(Some("summarized")), Some("low")));
        assert_eq!(thinking("claude-fable-5-1", 50_000), (adaptive(Some("summarized")), Some("high")));
        assert_eq!(thinking("claude-3-5-haiku-latest", ThinkingLevel::High), (None, None));
    }

    #[test]
    fn thinking_off_is_sent_as_the_family_expects_it() {
        let off = ThinkingLevel::Off;
        assert_eq!(thinking("claude-sonnet-4-5", off), (None, None));
        assert_eq!(thinking("claude-sonnet-4-6", off), (Some(ThinkingConfig::Disabled), None));
        assert_eq!(thinking("claude-sonnet-5", off), (Some(ThinkingConfig::Disabled), None));
        assert_eq!(thinking("claude-sonnet-5-5", off), (Some(ThinkingConfig::BetweenTools), None));
        assert_eq!(thinking("claude-opus-5-5", off), (None, Some("low")));
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        let limited = |tokens: u32, limit: u32| {
            let plan = plan("claude-sonnet-4-5", &Settings::new().thinking(tokens).max_tokens(limit));
            (plan.thinking, plan.max_tokens)
        };
        assert_eq!(limited(100, 4_000), (Some(budget(1_024)), 4_000));
        assert_eq!(limited(10_000, 4_000), (Some(budget(2_000)), 4_000));
        assert_eq!(limited(10_000, 1_100), (Some(budget(1_024)), 1_100));
        assert_eq!(limited(10_000, 1_024), (None, 1_024));

        let free = plan("claude-sonnet-4-5", &Settings::new().thinking(40_000));
        assert_eq!((free.thinking, free.max_tokens), (Some(budget(40_000)), 48_192));
        let most = plan("claude-opus-4-1", &Settings::new().thinking(40_000));
        assert_eq!((most.thinking, most.max_tokens), (Some(budget(23_808)), 32_000));
    }

    /// By <https://platform.claude.com/docs/en/build-with-claude/extended-thinking> (read 2026-11-22): at least 1,024 tokens,
    /// and fewer than `max_tokens`.
    #[test]
    fn a_budget_in_tokens_that_the_api_takes_stays_as_it_is() {
        for (tokens, limit) in [(3_000, 4_096), (4_095, 4_096), (60_000, 64_000), (1_024, 1_025)] {
            let plan = plan("claude-sonnet-4-5", &Settings::new().thinking(tokens).max_tokens(limit));
            assert_eq!((plan.thinking, plan.max_tokens), (Some(budget(tokens)), limit));
            assert_eq!(plan.warnings, Warnings::default(), "{tokens} of {limit}");
        }
        let level = plan("claude-sonnet-4-5", &Settings::new().thinking(ThinkingLevel::High).max_tokens(4_096));
        assert_eq!(level.thinking, Some(budget(2_048)), "a level leaves room for the answer");
        let most = plan("claude-opus-4-1", &Settings::new().thinking(30_000));
        assert_eq!((most.thinking, most.max_tokens), (Some(budget(30_000)), 32_000));
    }

    #[test]
    fn a_model_that_thinks_is_neither_sampled_nor_forced() {
        let settings = Settings::new().temperature(0.2).top_p(0.9);
        let cold = plan("claude-sonnet-4-5", &settings);
        assert_eq!((cold.temperature, cold.top_p, cold.forces_tools), (Some(0.2), None, true));
        let old = plan("claude-3-opus-latest", &settings);
        assert_eq!((old.temperature, old.top_p), (Some(0.2), Some(0.9)));
        assert_eq!(plan("claude-sonnet-4-5", &Settings::new().top_p(0.9)).top_p, Some(0.9));

        let thinks = plan("claude-sonnet-4-5", &settings.clone().thinking(ThinkingLevel::Low));
        assert_eq!((thinks.temperature, thinks.top_p, thinks.forces_tools), (None, None, false));
        let adaptive = plan("claude-opus-4-6", &settings.clone().thinking(ThinkingLevel::Low));
        assert_eq!((adaptive.temperature, adaptive.forces_tools), (None, true));
        let newest = plan("claude-opus-5-5", &settings);
        assert_eq!((newest.temperature, newest.top_p, newest.forces_tools), (None, None, false));
    }

    #[test]
    fn a_turn_that_began_without_a_thought_continues_without() {
        let call = ToolCall::new("c1", "add", "{}");
        let turn = |first: Vec<ResponsePart>| {
            let result = Message::Tool { results: vec![ToolResult::new(&call, "3")] };
            [Message::user("hi"), Message::Assistant { parts: first }, result]
        };
        let settings = Settings::new().thinking(2_000);
        let family = CapabilityTable::builtin().anthropic("claude-sonnet-4-5");
        let foreign = turn(vec![ResponsePart::Thinking(Thinking::new("hm")), ResponsePart::ToolCall(call.clone())]);
        assert_eq!(Plan::new(&family, &settings, &foreign).thinking, None);

        let data = ProviderData::new("anthropic", json!({"type": "thinking", "signature": "s"}));
        let thought = Thinking::new("hm").with_provider_data(data);
        let own = turn(vec![ResponsePart::Thinking(thought), ResponsePart::ToolCall(call.clone())]);
        assert_eq!(Plan::new(&family, &settings, &own).thinking, Some(budget(2_000)));
        let done = [foreign.to_vec(), vec![Message::user("more")]].concat();
        assert_eq!(Plan::new(&family, &settings, &done).thinking, Some(budget(2_000)));
    }
}
