//! The messages of a conversation: that of a root worker, or a thread.

mod threads;

use std::sync::{Mutex, MutexGuard};

use llm_do_providers::Message;
use serde::{Deserialize, Serialize};

pub(crate) use self::threads::{NamedThread, ThreadChange, Threads};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::Labels;
use crate::plane::history::History;

/// The messages of a conversation: the earlier messages, and those of a call once it finishes.
#[derive(Debug, Default)]
pub(crate) struct Conversation(Mutex<Messages>);

#[derive(Debug, Default)]
struct Messages {
    messages: Vec<Message>,
    /// The number of messages that the last call left unchanged.
    kept: usize,
    /// The labels of the messages; `None` if they are not known.
    labels: Option<Labels>,
}

/// The change of a conversation by a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    /// The number of earlier messages that stay; the messages after them were replaced.
    kept: usize,
    /// The messages after the unchanged ones.
    added: Vec<Message>,
    /// The labels of all messages, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Labels>,
}

impl Conversation {
    /// Returns a conversation with these messages; `labels` are those of all of them, if they are known.
    pub(crate) fn new(history: History, labels: Option<Labels>) -> Self {
        Self(Mutex::new(Messages { messages: history.into(), kept: 0, labels }))
    }

    /// Replaces the messages; the first `kept` are unchanged. `labels` are those of all of them, if values are labelled.
    pub(crate) fn save(&self, messages: Vec<Message>, kept: usize, labels: Option<Labels>) {
        let mut current = self.lock();
        // What a run without labels has added may be from anyone.
        let labels = labels.or(current.labels.map(|_| Labels::unknown()));
        *current = Messages { messages, kept, labels };
    }

    /// Replaces the messages by messages of which no labels are known.
    pub(crate) fn replace(&self, history: History) {
        *self.lock() = Messages { messages: history.into(), kept: 0, labels: None };
    }

    /// Returns the labels of the messages, if they are known.
    pub(crate) fn labels(&self) -> Option<Labels> {
        self.lock().labels
    }

    /// Returns the history, in a form that every provider accepts.
    pub(crate) fn history(&self) -> History {
        self.lock().messages.clone().into()
    }

    /// Pins the last message of the user; returns whether there is one.
    pub(crate) fn pin_last(&self) -> bool {
        let mut current = self.lock();
        let last = current.messages.iter().rposition(|message| matches!(message, Message::User { .. }));
        let Some(last) = last else { return false };
        let pinned = current.messages[last].clone().pinned();
        current.messages[last] = pinned;
        current.kept = current.kept.min(last);
        true
    }

    /// Removes and returns the history, in a form that every provider accepts, with the number of unchanged messages.
    pub(crate) fn take(&self) -> (History, usize) {
        let mut history = History::new();
        *history.messages_mut() = std::mem::take(&mut self.lock().messages);
        let is_changed = history.repair();
        let kept = if is_changed { 0 } else { history.messages().len() };
        (history, kept)
    }

    /// Begins a call, without a change so far.
    fn begin(&self) {
        let mut current = self.lock();
        current.kept = current.messages.len();
    }

    fn messages(&self) -> usize {
        self.lock().messages.len()
    }

    /// Returns the change by the last call.
    fn change(&self) -> Change {
        let current = self.lock();
        let kept = current.kept.min(current.messages.len());
        Change { kept, added: current.messages[kept..].to_vec(), labels: current.labels }
    }

    /// Applies the recorded change of a call; returns the number of messages if it is less than the change requires.
    fn restore(&self, change: &Change) -> Result<(), usize> {
        let mut current = self.lock();
        if current.messages.len() < change.kept {
            return Err(current.messages.len());
        }
        current.messages.truncate(change.kept);
        current.messages.extend_from_slice(&change.added);
        (current.kept, current.labels) = (change.kept, change.labels);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Messages> {
        self.0.lock().ignore_poison()
    }
}
