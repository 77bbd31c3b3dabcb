//! Messages and their parts, the same for every provider.

use serde::{Deserialize, Serialize};

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
    Thinking {
        /// The thought, or the provider's summary of it.
        text: String,
    },
    /// A request to call a tool.
    ToolCall(ToolCall),
}

/// A model's request to call a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the provider calls this call; its result carries the same id.
    pub id: String,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON if the model kept to the schema, anything otherwise.
    pub arguments: String,
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
    /// Another reason, which the provider does not name in our terms.
    Other,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ToolCall, ToolResult};
    use crate::attachment::Attachment;

    #[test]
    fn a_result_without_files_is_written_without_them() {
        let call = ToolCall { id: "c1".into(), name: "add".into(), arguments: "{}".into() };
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
