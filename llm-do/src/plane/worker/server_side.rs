//! What is told of the tools that a provider runs while an answer arrives: the same, streamed or not.

use std::sync::Arc;

use llm_do_providers::{ResponsePart, ServerSideToolUse};
use serde_json::Value;

use crate::observe::event::EventKind;

/// The uses of one answer, so far as they were told.
#[derive(Default)]
pub(super) struct Uses(Vec<Use>);

struct Use {
    tool: Arc<str>,
    input: Value,
    is_over: bool,
}

impl Uses {
    /// Takes in that a tool runs; returns what is to be told.
    pub(super) fn begin(&mut self, tool: Arc<str>, input: Value) -> EventKind {
        self.0.push(Use { tool: Arc::clone(&tool), input: input.clone(), is_over: false });
        EventKind::ServerSideToolStarted { tool, input }
    }

    /// Takes in that it ended; returns what is to be told, if it was told that it began.
    pub(super) fn end(&mut self, tool: &str, input: &Value, error: Option<String>) -> Option<EventKind> {
        let running = self.0.iter_mut().find(|used| !used.is_over && *used.tool == *tool && used.input == *input)?;
        running.is_over = true;
        Some(finished(&running.tool, running.input.clone(), error))
    }

    /// Returns what is left to be told once the whole answer is there, or that there is none and why.
    pub(super) fn settle(mut self, answer: Result<&[ResponsePart], &str>) -> Vec<EventKind> {
        let mut told = Vec::new();
        let (parts, fault) = answer.map_or_else(|fault| (&[][..], Some(fault)), |parts| (parts, None));
        for part in parts {
            if let ResponsePart::ServerSideTool(used) = part
                && !used.is_result_alone()
            {
                self.settle_one(used, &mut told);
            }
        }
        let open = self.0.into_iter().filter(|used| !used.is_over);
        told.extend(open.map(|Use { tool, input, .. }| finished(&tool, input, fault.map(str::to_owned))));
        told
    }

    fn settle_one(&mut self, used: &ServerSideToolUse, told: &mut Vec<EventKind>) {
        let (input, error) = (used.input.clone(), used.error.clone());
        match self.place(used).map(|place| self.0.remove(place)) {
            Some(Use { is_over: true, .. }) => {}
            Some(Use { tool, .. }) => told.push(finished(&tool, input, error)),
            None => {
                let tool: Arc<str> = used.name.as_str().into();
                told.push(EventKind::ServerSideToolStarted { tool: Arc::clone(&tool), input: input.clone() });
                told.push(finished(&tool, input, error));
            }
        }
    }

    /// Finds what was told of a use: the same, or else one of the tool whose input was not whole when it was told.
    fn place(&self, used: &ServerSideToolUse) -> Option<usize> {
        let is_same = |told: &Use| *told.tool == *used.name && told.input == used.input;
        let is_like = |told: &Use| *told.tool == *used.name && !told.is_over;
        self.0.iter().position(is_same).or_else(|| self.0.iter().position(is_like))
    }
}

fn finished(tool: &Arc<str>, input: Value, error: Option<String>) -> EventKind {
    EventKind::ServerSideToolFinished { tool: Arc::clone(tool), input, error }
}
