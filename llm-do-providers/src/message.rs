//! Provider-neutral messages and their parts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attachment::Attachment;

/// One message of a conversation.
///
/// A history is a list of messages. Instructions (the system prompt) are separate, in
/// [`Request::instructions`](crate::Request::instructions).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// A message of the user, or of the code that calls a worker.
    User {
        /// The parts, in order.
        parts: Vec<UserPart>,
    },
    /// An answer of the model.
    Assistant {
        /// The parts, in order.
        parts: Vec<ResponsePart>,
    },
    /// The results of the tool calls of the preceding assistant message, one per call.
    Tool {
        /// The results, in the order of the calls.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Creates a user message with one text part.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { parts: vec![UserPart::Text { text: text.into() }] }
    }

    /// Pins a message of the user, so that it stays when a long history is compacted; other messages are returned as they are.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers as model; }
    /// use llm_do::model::Message;
    ///
    /// let rule = Message::user("Never change the tests.").pinned();
    /// assert!(rule.is_pinned());
    /// ```
    #[must_use]
    pub fn pinned(mut self) -> Self {
        if let Self::User { parts } = &mut self {
            parts.retain(|part| *part != UserPart::Pin);
            parts.push(UserPart::Pin);
        }
        self
    }

    /// Returns whether the message has a summary that the servers of `provider` made of all messages before it. Not public API. Used
    /// by `llm-do`.
    #[doc(hidden)]
    #[must_use]
    pub fn has_compaction_of(&self, provider: &str) -> bool {
        let is_summary = |part: &ResponsePart| matches!(part, ResponsePart::Opaque(data) if data.provider == provider && data.is_compaction());
        matches!(self, Self::Assistant { parts } if parts.iter().any(is_summary))
    }

    /// Returns whether the message is pinned.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        matches!(self, Self::User { parts } if parts.contains(&UserPart::Pin))
    }
}

/// A part of a user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum UserPart {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A file.
    Attachment(Attachment),
    /// A mark that no model gets: the message stays when a long history is compacted, as [`Message::pinned`] sets it.
    Pin,
}

/// A part of a model's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResponsePart {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// The model's thinking, if the provider shows it.
    Thinking(Thinking),
    /// A request to call a tool.
    ToolCall(ToolCall),
    /// A use of a server-side tool, which the provider ran.
    ServerSideTool(ServerSideToolUse),
    /// A file that the model generated, such as an image.
    Attachment(Attachment),
    /// Data that only the provider understands, and wants back in the same position.
    Opaque(ProviderData),
}

/// The thinking of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Thinking {
    /// The thinking, or the provider's summary of it; empty if it shows neither.
    pub text: String,
    /// Data that the provider wants back with it, such as a signature or the encrypted thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl Thinking {
    /// Creates a thinking part.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), provider_data: None }
    }

    /// Sets the data that the provider wants back with it. Default: none.
    #[must_use]
    pub fn with_provider_data(self, data: ProviderData) -> Self {
        Self { provider_data: Some(data), ..self }
    }
}

/// Data that only its provider understands: a signature, encrypted thinking, an id.
///
/// It belongs to the part it came with, is saved with the history, and is sent back unchanged to that provider and to
/// no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderData {
    /// The provider, as in `provider:model`.
    pub provider: String,
    /// The data, in the provider's format.
    pub data: Value,
}

impl ProviderData {
    /// Creates data for `provider`.
    #[must_use]
    pub fn new(provider: impl Into<String>, data: Value) -> Self {
        Self { provider: provider.into(), data }
    }

    /// Returns whether it is a summary that the provider's servers made of the conversation. Not public API. Used by `llm-do`.
    #[doc(hidden)]
    #[must_use]
    pub fn is_compaction(&self) -> bool {
        // A summary that failed is null.
        let has_text = ["content", "encrypted_content"].iter().any(|key| self.data[*key].is_string());
        self.data["type"] == "compaction" && has_text
    }

    /// Returns the data, if it is for `provider`.
    #[must_use]
    pub fn of(&self, provider: &str) -> Option<&Value> {
        (self.provider == provider).then_some(&self.data)
    }
}

/// A model's request to call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The provider's id of the call; the result has the same id.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON if the model followed the schema, otherwise any text.
    pub arguments: String,
    /// Data that the provider wants back with it, such as the signature of the preceding thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl ToolCall {
    /// Creates a call of the tool `name` with `arguments`, a JSON text.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), provider_data: None }
    }

    /// Sets the data that the provider wants back with it. Default: none.
    #[must_use]
    pub fn with_provider_data(self, data: ProviderData) -> Self {
        Self { provider_data: Some(data), ..self }
    }

    /// Returns whether code that the provider runs makes the call, and not the model: the code reads the result.
    #[must_use]
    pub fn is_by_code(&self) -> bool {
        let caller = self.provider_data.as_ref().map(|data| &data.data["caller"]);
        caller.is_some_and(|caller| caller["tool_id"].is_string() || caller["caller_id"].is_string())
    }
}

/// A use of a [`ServerSideTool`](crate::ServerSideTool), which has already run on the provider's servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerSideToolUse {
    /// The tool, such as `web_search`.
    pub name: String,
    /// The input, in the provider's format.
    pub input: Value,
    /// The output, in the provider's format; null if the provider does not show it.
    pub output: Value,
    /// The provider's error code, such as `max_uses_exceeded`; `None` if it succeeded or the provider does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Data that the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl ServerSideToolUse {
    /// Creates a use of the tool `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, input: Value, output: Value) -> Self {
        Self { name: name.into(), input, output, error: None, provider_data: None }
    }

    /// Sets the error code. Default: none.
    #[must_use]
    pub fn with_error(self, error: Option<String>) -> Self {
        Self { error, ..self }
    }

    /// Returns whether it is only the result of a use that is an earlier part.
    #[must_use]
    pub fn is_result_alone(&self) -> bool {
        self.input.is_null() && !self.output.is_null()
    }

    /// Sets the data that the provider wants back with it. Default: none.
    #[must_use]
    pub fn with_provider_data(self, data: ProviderData) -> Self {
        Self { provider_data: Some(data), ..self }
    }
}

/// The result of a tool call, as sent to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The [`ToolCall::id`] of the call.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The result: text, or JSON as text.
    pub content: String,
    /// Whether the call failed; `content` is then the reason.
    pub is_error: bool,
    /// The files that accompany `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolResult {
    /// Creates the successful result `content` of `call`.
    #[must_use]
    pub fn new(call: &ToolCall, content: impl Into<String>) -> Self {
        Self {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: content.into(),
            is_error: false,
            attachments: Vec::new(),
        }
    }

    /// Sets whether the call failed. Default: false.
    #[must_use]
    pub fn with_error(self, is_error: bool) -> Self {
        Self { is_error, ..self }
    }

    /// Adds files. Default: none.
    #[must_use]
    pub fn with_attachments(mut self, attachments: impl IntoIterator<Item = Attachment>) -> Self {
        self.attachments.extend(attachments);
        self
    }
}

/// The reason why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The model requests tool calls.
    ToolCalls,
    /// The limit of output tokens was reached: the last part may be cut off.
    Length,
    /// A content filter of the provider stopped it.
    ContentFilter,
    /// Another reason, or tool calls without a reason: the last part may be cut off.
    ///
    /// If a call of such an answer has empty or incomplete arguments, a worker runs none of its calls and requests a
    /// new answer.
    Other,
    /// A message to the run interrupted the answer: only the text that had arrived is left. Models do not return this.
    Interrupted,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolCall, ToolResult};
    use crate::attachment::Attachment;

    #[test]
    fn a_result_without_files_is_serialized_without_the_field() {
        let call = ToolCall::new("c1", "add", "{}");
        let plain = ToolResult::new(&call, "3").with_error(true);
        let written = json!({"call_id": "c1", "name": "add", "content": "3", "is_error": true});
        assert_eq!(serde_json::to_value(&plain).unwrap(), written);
        assert_eq!(serde_json::from_value::<ToolResult>(written).unwrap(), plain);

        let with_file = plain.with_attachments([Attachment::new("text/plain", "hi!")]);
        let written = serde_json::to_value(&with_file).unwrap();
        assert_eq!(written["attachments"], json!([{"media_type": "text/plain", "data": "aGkh"}]));
        assert_eq!(serde_json::from_value::<ToolResult>(written).unwrap(), with_file);
    }
}
