//! Messages and their parts, the same for every provider.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attachment::Attachment;

/// One message of a conversation.
///
/// A history is a list of these; instructions (the system prompt) stand beside it, in
/// [`Request::instructions`](crate::Request::instructions).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What the user, or the code that calls a worker, says.
    User {
        /// The parts, in order.
        parts: Vec<UserPart>,
    },
    /// What the model answered.
    Assistant {
        /// The parts, in order.
        parts: Vec<ResponsePart>,
    },
    /// The results of the tool calls of the assistant message before it, one for each call.
    Tool {
        /// The results, in the order of the calls.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// Returns a user message of one text part.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { parts: vec![UserPart::Text { text: text.into() }] }
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
    /// What the model thought before it answered, where the provider shows it.
    Thinking(Thinking),
    /// A request to call a tool.
    ToolCall(ToolCall),
    /// A use of a tool that the provider ran.
    ServerSideTool(ServerSideToolUse),
    /// A file that the model made, such as an image.
    Attachment(Attachment),
    /// What means something to its provider alone, which wants it back in its place.
    Opaque(ProviderData),
}

/// What a model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Thinking {
    /// The thought, or the provider's summary of it; empty where it shows neither.
    pub text: String,
    /// What its provider wants back with it, such as a signature or the thought encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl Thinking {
    /// Returns a thought.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), provider_data: None }
    }

    /// Adds what its provider wants back with it. Default: nothing.
    #[must_use]
    pub fn with_provider_data(self, data: ProviderData) -> Self {
        Self { provider_data: Some(data), ..self }
    }
}

/// What only its provider reads: a signature, a thought encrypted, an id.
///
/// It stays with the part that it came with, is saved with the history, and is sent back as it came: to that provider, and
/// to no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProviderData {
    /// Whose it is, as in `provider:model`.
    pub provider: String,
    /// What it is, in the provider's own terms.
    pub data: Value,
}

impl ProviderData {
    /// Returns what `provider` wants back.
    #[must_use]
    pub fn new(provider: impl Into<String>, data: Value) -> Self {
        Self { provider: provider.into(), data }
    }

    /// Returns the data, if it is that provider's.
    #[must_use]
    pub fn of(&self, provider: &str) -> Option<&Value> {
        (self.provider == provider).then_some(&self.data)
    }
}

/// A model's request to call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// What the provider calls this call; its result carries the same id.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON if the model kept to the schema, anything otherwise.
    pub arguments: String,
    /// What its provider wants back with it, such as the signature of the thought that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl ToolCall {
    /// Returns the call of the tool `name` with `arguments`, a text of JSON.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), provider_data: None }
    }

    /// Adds what its provider wants back with it. Default: nothing.
    #[must_use]
    pub fn with_provider_data(self, data: ProviderData) -> Self {
        Self { provider_data: Some(data), ..self }
    }
}

/// A use that a model made of a [`ServerSideTool`](crate::ServerSideTool): it has run already, on the provider's servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerSideToolUse {
    /// The tool, such as `web_search`.
    pub name: String,
    /// What it was asked, in the provider's own terms.
    pub input: Value,
    /// What it found, in the provider's own terms; null where the provider does not show it.
    pub output: Value,
    /// Why it failed, in a word of the provider's, such as `max_uses_exceeded`; none if it did not, or nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
}

impl ServerSideToolUse {
    /// Returns a use of the tool `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, input: Value, output: Value) -> Self {
        Self { name: name.into(), input, output, error: None, provider_data: None }
    }

    /// Says why it failed, if it did. Default: it did not.
    #[must_use]
    pub fn with_error(self, error: Option<String>) -> Self {
        Self { error, ..self }
    }

    /// Returns whether it is the result of a use that stands in a part of its own before it.
    #[must_use]
    pub fn is_result_alone(&self) -> bool {
        self.input.is_null() && !self.output.is_null()
    }

    /// Adds what the provider wants back with it. Default: nothing.
    #[must_use]
    pub fn with_provider_data(self, data: ProviderData) -> Self {
        Self { provider_data: Some(data), ..self }
    }
}

/// The result of one tool call, as the model is told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The [`ToolCall::id`] that it answers.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The result: text, or JSON as text.
    pub content: String,
    /// Whether the call failed, so that `content` says why.
    pub is_error: bool,
    /// The files that go with `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ToolResult {
    /// Returns the result of `call`, which succeeded with `content`.
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

    /// Says whether the call failed. Default: false.
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

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It had said what it wanted to say.
    Stop,
    /// It wants tools called.
    ToolCalls,
    /// It ran into the limit on output tokens: the last part may be cut off.
    Length,
    /// The provider's filter stopped it.
    ContentFilter,
    /// Another reason, or it called tools and gave none: the last part may be cut off.
    ///
    /// If a call of such an answer has empty or incomplete arguments, a worker runs none of its calls and asks again.
    Other,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolCall, ToolResult};
    use crate::attachment::Attachment;

    #[test]
    fn a_result_without_files_is_written_without_them() {
        let call = ToolCall::new("c1", "add", "{}");
        let plain = ToolResult::new(&call, "3").with_error(true);
        let written = json!({"call_id": "c1", "name": "add", "content": "3", "is_error": true});
        assert_eq!(serde_json::to_value(&plain).unwrap(), written);
        assert_eq!(serde_json::from_value::<ToolResult>(written).unwrap(), plain);

        let filed = plain.with_attachments([Attachment::new("text/plain", "hi!")]);
        let written = serde_json::to_value(&filed).unwrap();
        assert_eq!(written["attachments"], json!([{"media_type": "text/plain", "data": "aGkh"}]));
        assert_eq!(serde_json::from_value::<ToolResult>(written).unwrap(), filed);
    }
}
