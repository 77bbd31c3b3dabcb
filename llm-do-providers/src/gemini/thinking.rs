//! The thinking level, as the API expects it.

use super::wire::ThinkingConfig;
use crate::capability::{GeminiCapabilities, GeminiThinking};
use crate::settings::{ThinkingLevel, Warnings};

/// Returns the configuration for a level; `None` if the model does not think. Records changes in `warnings`.
pub(super) fn config(
    level: ThinkingLevel,
    capabilities: &GeminiCapabilities,
    warnings: &mut Warnings,
) -> Option<ThinkingConfig> {
    let is_on = !level.is_off();
    // By default, thoughts are hidden.
    let shown = ThinkingConfig { include_thoughts: is_on.then_some(true), ..ThinkingConfig::default() };
    match capabilities.thinking {
        GeminiThinking::Never => {
            if is_on {
                warnings.not_sent("thinking", "the model does not support thinking");
            }
            None
        }
        GeminiThinking::Shown => {
            warnings.not_sent("thinking", "the model has no thinking levels; its thoughts can only be shown or hidden");
            is_on.then_some(shown)
        }
        GeminiThinking::Budget { min, max, can_turn_off } => {
            let tokens = if can_turn_off && !is_on { 0 } else { tokens(level, max).clamp(min, max) };
            warnings.thinking_as_tokens(level, tokens, &format!("the model accepts {min} to {max}"));
            Some(ThinkingConfig { thinking_budget: Some(tokens), ..shown })
        }
        GeminiThinking::Levels { minimal, medium } => {
            let word = match word(level) {
                "minimal" if !minimal => "low",
                "medium" if !medium => "high",
                word => word,
            };
            warnings.thinking_as(level, word);
            Some(ThinkingConfig { thinking_level: Some(word), ..shown })
        }
    }
}

fn tokens(level: ThinkingLevel, max: u32) -> u32 {
    match level {
        ThinkingLevel::Off => 0,
        ThinkingLevel::Minimal => 128,
        ThinkingLevel::Low => 2048,
        ThinkingLevel::Medium => 8192,
        ThinkingLevel::High => max,
        ThinkingLevel::Tokens(tokens) => tokens,
    }
}

fn word(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Tokens(..=512) => "minimal",
        ThinkingLevel::Low | ThinkingLevel::Tokens(..=2048) => "low",
        ThinkingLevel::Medium | ThinkingLevel::Tokens(..=8192) => "medium",
        ThinkingLevel::High | ThinkingLevel::Tokens(_) => "high",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::config;
    use crate::capability::CapabilityTable;
    use crate::settings::ThinkingLevel::{self, High, Low, Medium, Minimal, Off, Tokens};
    use crate::settings::Warnings;

    fn sent(model: &str, level: ThinkingLevel) -> Value {
        serde_json::to_value(config(level, &CapabilityTable::builtin().gemini(model), &mut Warnings::default()))
            .unwrap()
    }

    #[test]
    fn version_2_5_has_numbers_of_tokens() {
        let shown = |tokens: u32| json!({"includeThoughts": true, "thinkingBudget": tokens});
        let cases = [
            (
                "gemini-2.5-flash",
                [(Minimal, 128), (Low, 2048), (Medium, 8192), (High, 24_576), (Tokens(99_999), 24_576)],
            ),
            (
                "gemini-2.5-flash-lite",
                [(Minimal, 512), (Low, 2048), (Tokens(1), 512), (High, 24_576), (Tokens(4096), 4096)],
            ),
            (
                "gemini-2.5-pro",
                [(Minimal, 128), (Low, 2048), (Tokens(1), 128), (High, 32_768), (Tokens(30_000), 30_000)],
            ),
        ];
        for (model, levels) in cases {
            for (level, tokens) in levels {
                assert_eq!(sent(model, level), shown(tokens), "{model}: {level:?}");
            }
        }
        assert_eq!(sent("gemini-2.5-flash", Off), json!({"thinkingBudget": 0}));
        assert_eq!(sent("gemini-2.5-pro", Tokens(0)), json!({"thinkingBudget": 128}), "it always thinks");
    }

    #[test]
    fn version_3_has_words() {
        let shown = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
        let cases = [(Minimal, "minimal"), (Low, "low"), (Medium, "medium"), (High, "high"), (Tokens(4096), "medium")];
        for (level, word) in cases {
            assert_eq!(sent("gemini-3-flash-preview", level), shown(word), "{level:?}");
        }
        assert_eq!(sent("gemini-3-flash-preview", Off), json!({"thinkingLevel": "minimal"}));
        assert_eq!(sent("gemini-3.1-pro-preview", Off), json!({"thinkingLevel": "low"}));
        assert_eq!(sent("gemini-3-pro-preview", Medium), shown("high"));
        assert_eq!(sent("gemini-3-pro-image-preview", Low), json!({"includeThoughts": true}));
    }

    #[test]
    fn a_model_that_does_not_think_is_not_asked_to() {
        assert_eq!(sent("gemini-2.0-flash", High), Value::Null);
        assert_eq!(sent("gemma-3-27b-it", High), Value::Null);
    }
}
