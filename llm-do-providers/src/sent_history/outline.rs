//! The ids of a history, which affect how later messages are sent. Each message is read once.

use std::collections::HashMap;

use super::call_id::key;
use crate::message::{Message, ProviderData, ResponsePart};

/// The ids that repeat in a history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    /// The number of messages read so far.
    read: usize,
    /// The number of calls by the key of their id.
    calls: HashMap<Box<str>, u32>,
    /// The ids of a provider's own items, with the provider.
    items: HashMap<Box<str>, Vec<Box<str>>>,
    /// The repeats by the index of the message and of its part.
    repeats: HashMap<(usize, usize), Repeats>,
}

/// Whether the ids of a part repeat earlier ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeats {
    /// The number of earlier calls with the same id.
    pub(crate) call: u32,
    /// Whether an earlier part has the same provider's id.
    pub(crate) item: bool,
}

impl Outline {
    /// Returns the outline of `messages`.
    pub(crate) fn from_messages(messages: &[Message]) -> Self {
        let mut outline = Self::default();
        outline.read(messages);
        outline
    }

    /// Reads the new messages; the earlier ones must be unchanged.
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

    /// Clears the outline if more than the first `kept` messages were read.
    pub(crate) fn truncate(&mut self, kept: usize) {
        if kept < self.read {
            *self = Self::default();
        }
    }

    /// Whether exactly `length` messages were read.
    pub(crate) fn has_read(&self, messages: usize) -> bool {
        self.read == messages
    }

    /// Returns the repeats of the part `number` of the message at `place`.
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

/// Returns the id of a provider's item or block, except for a container, which many answers share.
fn item_id(data: &ProviderData) -> Option<&str> {
    let data = &data.data;
    let id = data["id"].as_str().or_else(|| data["use"]["id"].as_str())?;
    (data["type"] != "container").then_some(id)
}
