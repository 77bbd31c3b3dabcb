//! Collects the warnings while a request is built.

#[cfg(any(feature = "gemini", feature = "openai"))]
use std::fmt::Display;

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
use super::ThinkingLevel;
use crate::response::SettingWarning;

/// The warnings of one request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Warnings(Vec<SettingWarning>);

impl Warnings {
    /// Returns `value` if it is `accepted`; otherwise records that `setting` is not sent, and why.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn accept<T>(&mut self, setting: &str, value: Option<T>, accepted: bool, reason: &str) -> Option<T> {
        if accepted {
            return value;
        }
        if value.is_some() {
            self.not_sent(setting, reason);
        }
        None
    }

    /// Records that `setting` is not sent, and why.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn not_sent(&mut self, setting: &str, reason: &str) {
        self.0.push(SettingWarning::new(setting, format!("not sent: {reason}")));
    }

    /// Records that those of `settings` that are set are not sent, and why.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn no_field(&mut self, settings: &[(&str, bool)], reason: &str) {
        for (setting, _) in settings.iter().filter(|(_, is_set)| *is_set) {
            self.not_sent(setting, reason);
        }
    }

    /// Records that `setting` is changed; `how` describes the new value and the reason.
    pub(crate) fn changed(&mut self, setting: &str, how: impl Into<String>) {
        self.0.push(SettingWarning::new(setting, how));
    }

    /// Records that a thinking level is sent as the nearest word that the model accepts, unless it is the same word.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn thinking_as(&mut self, level: ThinkingLevel, word: &str) {
        let own = match level {
            ThinkingLevel::Off | ThinkingLevel::Tokens(0) => "none",
            ThinkingLevel::Minimal => "minimal",
            ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
            ThinkingLevel::Tokens(_) => "",
        };
        if word != own {
            self.changed("thinking", format!("{level} sent as `{word}`, the nearest that the model accepts"));
        }
    }

    /// Records that a thinking level is sent as a number of tokens, unless that number was set.
    #[cfg(any(feature = "anthropic", feature = "gemini"))]
    pub(crate) fn thinking_as_tokens(&mut self, level: ThinkingLevel, tokens: u32, reason: &str) {
        let is_as_set = match level {
            ThinkingLevel::Off => tokens == 0,
            ThinkingLevel::Tokens(set) => tokens == set,
            _ => true,
        };
        if !is_as_set {
            self.changed("thinking", format!("{level} sent as {tokens} tokens: {reason}"));
        }
    }

    /// Records that a tool is left out of the request, and why.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn without_tool(&mut self, tool: &str, reason: &impl Display) {
        self.changed("tools", format!("without `{tool}`, whose schema cannot be sent: {reason}"));
    }

    pub(crate) fn into_list(self) -> Vec<SettingWarning> {
        self.0
    }
}
