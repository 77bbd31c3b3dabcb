//! What of a whole history decides how its messages are sent, read once for each message.

use std::collections::HashMap;

use super::call_id::key;
use crate::message::{Message, ProviderData, ResponsePart};

/// The ids that repeat in a history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    /// The number of messages read so far.
    read: usize,
    /// How many calls have the id with this key.
    calls: HashMap<Box<str>, u32>,
    /// The ids of a provider's own items, with the provider.
    items: HashMap<Box<str>, Vec<Box<str>>>,
    /// By the place of a message, and of a part in it.
    repeats: HashMap<(usize, usize), Repeats>,
}

/// How the ids of a part repeat earlier ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// How many earlier calls have the id of this call.
    pub(crate) call: u32,
    /// Whether an earlier part has the same id of its provider.
    pub(crate) item: bool,
}

impl Outline {
    /// Returns the outline of `messages`.
    pub(crate) fn of(messages: &[Message]) -> Self {
        let mut outline = Self::default();
        outline.read(messages);
        outline
    }

    /// Reads the messages that are new; those before are as they were.
    pub(crate) fn read(&mut self, messages: &[Message]) {
        for (place, message) in messages.iter().enumerate().skip(self.read) {
            let Message::Assistant { parts } = message else { continue };
            for (number, part) in parts.iter().enumerate() {
                let repeats = self.add(part);
                if repeats != Repeats::default() {
                    self.repeats.insert((place, number), repeats);
                }
            }
        }
        self.read = messages.len();
    }

    /// Forgets everything, if more than the first `kept` messages were read.
    pub(crate) fn truncate(&mut self, kept: usize) {
        if kept < self.read {
            *self = Self::default();
        }
    }

    /// Whether exactly so many messages were read.
    pub(crate) fn has_read(&self, messages: usize) -> bool {
        self.read == messages
    }

    /// Returns how the ids of the part `number` of the message at `place` repeat earlier ones.
    pub(crate) fn repeats(&self, place: usize, number: usize) -> Repeats {
        self.repeats.get(&(place, number)).copied().unwrap_or_default()
    }

    fn add(&mut self, part: &ResponsePart) -> Repeats {
        let mut repeats = Repeats::default();
        if let ResponsePart::ToolCall(call) = part {
            let earlier = self.calls.entry(key(&call.id).into()).or_default();
            repeats.call = *earlier;
            *earlier = earlier.saturating_add(1);
        }
        if let Some((provider, id)) = data(part).and_then(|data| Some((data.provider.as_str(), item_id(data)?))) {
            let providers = self.items.entry(id.into()).or_default();
            repeats.item = providers.iter().any(|known| **known == *provider);
            if !repeats.item {
                providers.push(provider.into());
            }
        }
        repeats
    }
}

fn data(part: &ResponsePart) -> Option<&ProviderData> {
    match part {
        ResponsePart::Thinking(thought) => thought.provider_data.as_ref(),
        ResponsePart::ToolCall(call) => call.provider_data.as_ref(),
        ResponsePart::ServerSideTool(used) => used.provider_data.as_ref(),
        ResponsePart::Opaque(data) => Some(data),
        ResponsePart::Text { .. } | ResponsePart::Attachment(_) => None,
    }
}

/// Returns the id of a provider's item or block; a container is the same over many answers.
fn item_id(data: &ProviderData) -> Option<&str> {
    let data = &data.data;
    let id = data["id"].as_str().or_else(|| data["use"]["id"].as_str())?;
    (data["type"] != "container").then_some(id)
}
