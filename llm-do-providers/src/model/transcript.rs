//! A conversation that grows from request to request.

mod json;

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::json::WrittenJson;
pub(crate) use self::json::{Json, JsonWriter};
use crate::message::Message;

/// The messages of a conversation, with their JSON as models have sent it.
///
/// A request with a [transcript](crate::Request::transcript) serializes only the messages and tools that its model has
/// not sent before; the request itself is the same. A transcript serializes as its list of messages, compares by it,
/// and a clone contains only the messages.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as model; pub use llm_do_providers::Settings; }
/// use llm_do::Settings;
/// use llm_do::model::{Message, Request, Transcript};
///
/// let mut transcript = Transcript::from(vec![Message::user("Hello!")]);
/// transcript.push(Message::user("Is anyone there?"));
/// let settings = Settings::default();
/// let request = Request::new(&[], &settings).transcript(&transcript);
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Transcript {
    messages: Vec<Message>,
    written: WrittenJson,
}

impl Transcript {
    /// Appends a message.
    pub fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Returns the messages for modification. The next request serializes all of them again.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        self.written.truncate(0);
        &mut self.messages
    }

    /// Replaces the messages; returns the number of leading messages that are unchanged.
    pub fn replace(&mut self, messages: Vec<Message>) -> usize {
        let is_equal = |(old, new): &(&Message, &Message)| old == new;
        let kept = self.messages.iter().zip(&messages).take_while(is_equal).count();
        self.messages = messages;
        // The JSON of a message may depend on the messages before it and on the next one.
        self.written.truncate(kept.saturating_sub(1));
        kept
    }

    /// Returns the size of the cached JSON, in bytes.
    #[cfg(test)]
    pub(crate) fn written_size(&self) -> usize {
        self.written.size()
    }

    /// Returns a writer of the JSON that `model` sends. It caches nothing if `messages` are not those of the
    /// transcript.
    pub(crate) fn writer(&self, model: &Arc<str>, messages: &[Message]) -> JsonWriter<'_> {
        if std::ptr::eq(messages, self.messages.as_slice()) {
            self.written.writer(model)
        } else {
            JsonWriter::default()
        }
    }
}

impl Deref for Transcript {
    type Target = [Message];

    fn deref(&self) -> &[Message] {
        &self.messages
    }
}

impl From<Vec<Message>> for Transcript {
    fn from(messages: Vec<Message>) -> Self {
        Self { messages, written: WrittenJson::default() }
    }
}

impl From<Transcript> for Vec<Message> {
    fn from(transcript: Transcript) -> Self {
        transcript.messages
    }
}

impl Clone for Transcript {
    fn clone(&self) -> Self {
        self.messages.clone().into()
    }
}

impl PartialEq for Transcript {
    fn eq(&self, other: &Self) -> bool {
        self.messages == other.messages
    }
}

impl Serialize for Transcript {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.messages.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Transcript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
