//! The complete response to a request.

mod warning;

use serde::{Deserialize, Serialize};

pub use self::warning::SettingWarning;

use crate::attachment::Attachment;
use crate::message::{FinishReason, ResponsePart, ToolCall};
use crate::usage::Usage;

/// The complete response to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Response {
    /// The parts, in order.
    pub parts: Vec<ResponsePart>,
    /// The usage. [`Usage::requests`] is 1, or more if the provider paused and the request was continued, or if an
    /// earlier attempt failed and reported its usage.
    pub usage: Usage,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// The full name of the model that answered, `provider:model`, if it is not the requested one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// The settings that were changed or not sent, because the model or its server does not accept them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SettingWarning>,
}

impl Response {
    /// Creates a response of `model`; it finished for tool calls if `parts` has any.
    #[must_use]
    pub fn new(model: impl Into<String>, parts: Vec<ResponsePart>, usage: Usage) -> Self {
        let calls = parts.iter().any(|part| matches!(part, ResponsePart::ToolCall(_)));
        let finish = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
        Self { parts, usage, finish, model: model.into(), answered_by: None, warnings: Vec::new() }
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn with_finish(self, finish: FinishReason) -> Self {
        Self { finish, ..self }
    }

    /// Records that the provider gave no finish reason: the arguments of tool calls may be cut off.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(crate) fn without_reason(self) -> Self {
        let finish = if self.finish == FinishReason::ToolCalls { FinishReason::Other } else { self.finish };
        Self { finish, ..self }
    }

    /// Sets the model that answered, `provider:model`. Default: the requested one.
    #[must_use]
    pub fn with_answered_by(self, name: impl Into<String>) -> Self {
        Self { answered_by: Some(name.into()), ..self }
    }

    /// Sets the warnings about settings. Default: none.
    #[must_use]
    pub fn with_warnings(self, warnings: impl IntoIterator<Item = SettingWarning>) -> Self {
        Self { warnings: warnings.into_iter().collect(), ..self }
    }

    /// Appends the continuation `more` after a pause.
    #[cfg(feature = "http")]
    pub(crate) fn followed_by(mut self, more: Self) -> Self {
        self.parts.extend(more.parts);
        Self { parts: self.parts, usage: self.usage + more.usage, ..more }
    }

    /// Returns the concatenated text parts.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ResponsePart::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the files that the model generated, in order.
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
