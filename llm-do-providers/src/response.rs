//! The whole answer to one request.

mod warning;

use serde::{Deserialize, Serialize};

pub use self::warning::SettingWarning;

use crate::attachment::Attachment;
use crate::message::{FinishReason, ResponsePart, ToolCall};
use crate::usage::Usage;

/// The whole answer to one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Response {
    /// The parts, in order.
    pub parts: Vec<ResponsePart>,
    /// What it used; [`Usage::requests`] is 1, or more if the provider paused and was asked to go on, or if it gave an answer
    /// before that was none, and told what that used.
    pub usage: Usage,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// The full name of the model that answered, `provider:model`, where it is not the one that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// The settings that were not sent as they were set, because the model or its server does not accept them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SettingWarning>,
}

impl Response {
    /// Returns an answer of `parts` by `model`: it stopped for tool calls if there are any.
    #[must_use]
    pub fn new(model: impl Into<String>, parts: Vec<ResponsePart>, usage: Usage) -> Self {
        let calls = parts.iter().any(|part| matches!(part, ResponsePart::ToolCall(_)));
        let finish = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
        Self { parts, usage, finish, model: model.into(), answered_by: None, warnings: Vec::new() }
    }

    /// Says that the model stopped for another reason.
    #[must_use]
    pub fn with_finish(self, finish: FinishReason) -> Self {
        Self { finish, ..self }
    }

    /// Says that no reason was given why the model stopped: the arguments of its calls may be cut off.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn without_reason(self) -> Self {
        let finish = if self.finish == FinishReason::ToolCalls { FinishReason::Other } else { self.finish };
        Self { finish, ..self }
    }

    /// Says which model answered, `provider:model`. Default: the one that was asked.
    #[must_use]
    pub fn with_answered_by(self, name: impl Into<String>) -> Self {
        Self { answered_by: Some(name.into()), ..self }
    }

    /// Says which settings were not sent as they were set. Default: none.
    #[must_use]
    pub fn with_warnings(self, warnings: impl IntoIterator<Item = SettingWarning>) -> Self {
        Self { warnings: warnings.into_iter().collect(), ..self }
    }

    /// Returns an answer that went on with `more` after a pause.
    #[cfg(feature = "http")]
    pub(crate) fn followed_by(mut self, more: Self) -> Self {
        self.parts.extend(more.parts);
        Self { parts: self.parts, usage: self.usage + more.usage, ..more }
    }

    /// Returns the text parts, joined.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ResponsePart::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the files that the model made, in order.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::Attachment(file) => Some(file),
            _ => None,
        })
    }

    /// Returns the tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ResponsePart::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}
