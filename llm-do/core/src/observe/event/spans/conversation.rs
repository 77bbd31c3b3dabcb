//! The conversations of calls, which requests extend.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::content::{answered_message, instructions, request_message, tools};
use crate::observe::event::{EventPart, RequestContent};

/// The messages of a call's requests and answers so far.
#[derive(Debug, Default)]
pub(super) struct Conversation(Vec<Value>);

impl Conversation {
    /// Adds the new content of a request, and returns all messages of the conversation.
    pub(super) fn extend(&mut self, content: &RequestContent) -> String {
        self.0.truncate(content.kept);
        self.0.extend(content.messages.iter().map(request_message));
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Adds an answer.
    pub(super) fn push_answer(&mut self, parts: &[EventPart]) {
        self.0.push(answered_message(parts));
    }
}

/// The instructions and tools of runs, by run and digest: only one event of a run has them, but each span needs them.
#[derive(Debug, Default)]
pub(super) struct Definitions(HashMap<(Arc<str>, Arc<str>), Arc<str>>);

impl Definitions {
    /// Returns the fields of a request with definitions.
    pub(super) fn of(&mut self, run: &Arc<str>, content: &RequestContent) -> Vec<(&'static str, Arc<str>)> {
        let mut fields = Vec::new();
        if let Some(given) = &content.instructions {
            let value = given.value.as_deref().map(instructions);
            fields.extend(self.defined(run, &given.digest, value).map(|value| ("gen_ai.system_instructions", value)));
        }
        if let Some(given) = &content.tools {
            let value = given.value.as_deref().map(tools);
            fields.extend(self.defined(run, &given.digest, value).map(|value| ("gen_ai.tool.definitions", value)));
        }
        fields
    }

    /// Drops the definitions of a finished run.
    pub(super) fn forget(&mut self, run: &Arc<str>) {
        self.0.retain(|(of, _), _| of != run);
    }

    fn defined(&mut self, run: &Arc<str>, digest: &Arc<str>, value: Option<String>) -> Option<Arc<str>> {
        let key = (Arc::clone(run), Arc::clone(digest));
        if let Some(value) = value {
            self.0.insert(key.clone(), value.into());
        }
        self.0.get(&key).cloned()
    }
}
