//! The content of a worker's requests and answers in events.

use std::sync::{Arc, Mutex};

use llm_do_providers::{Message, Response, ToolSpec};

use super::turn::Turns;
use super::{RequestParts, WorkerRun};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::{ContentFile, RequestContent, SentRequest};

/// The messages that the events of a call already have, if guards, history processors or a compaction may change messages that were
/// sent before.
#[derive(Debug, Default)]
pub(crate) struct ShownMessages(Mutex<Vec<Message>>);

impl ShownMessages {
    /// Records the messages of a request; returns how many of them the events already have.
    fn show(&self, messages: &[Message]) -> usize {
        let mut shown = self.0.lock().ignore_poison();
        let kept = shown.iter().zip(messages).take_while(|(shown, sent)| shown == sent).count();
        shown.truncate(kept);
        shown.extend_from_slice(&messages[kept..]);
        kept
    }

    fn push(&self, message: Message) {
        self.0.lock().ignore_poison().push(message);
    }
}

impl WorkerRun {
    /// Returns the new content of a request, if events have content.
    pub(super) fn show_request(&self, turns: &Turns, parts: &RequestParts) -> Option<RequestContent> {
        let content = self.ctx.shown_content()?;
        let kept = if self.changes_messages() {
            self.shown.show(&parts.messages)
        } else {
            parts.messages.len() - turns.new_messages(&parts.messages).len()
        };
        let tools: Arc<[ToolSpec]> = match &*self.deferred {
            [] => Arc::clone(&parts.tools),
            deferred => parts.tools.iter().chain(deferred).cloned().collect(),
        };
        Some(content.request(SentRequest {
            kept,
            messages: &parts.messages,
            instructions: parts.instructions.as_ref().unwrap_or(&self.instructions),
            tools: &tools,
            output: self.output.schema(),
        }))
    }

    /// Returns the files of an answer, if events have content.
    pub(super) fn show_answer(&self, response: &Response) -> Vec<ContentFile> {
        let Some(content) = self.ctx.shown_content() else { return Vec::new() };
        if self.changes_messages() {
            self.shown.push(Message::Assistant { parts: response.parts.clone() });
        }
        content.answer(response.attachments())
    }

    fn changes_messages(&self) -> bool {
        self.guards.is_some() || !self.processors.is_empty() || self.compaction.is_some()
    }
}
