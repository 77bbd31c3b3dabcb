//! Reports the server-side tools of an answer: the same events, streamed or not.

use std::sync::Arc;

use llm_do_providers::{ResponsePart, ServerSideToolUse};
use serde_json::Value;

use crate::observe::event::EventKind;

/// The tool uses of one answer that were reported so far.
#[derive(Default)]
pub(super) struct ToolUses(Vec<ToolUse>);

struct ToolUse {
    tool: Arc<str>,
    input: Value,
    is_finished: bool,
}

impl ToolUses {
    /// Records that a tool was started; returns the event.
    pub(super) fn start(&mut self, tool: Arc<str>, input: Value) -> EventKind {
        self.0.push(ToolUse { tool: Arc::clone(&tool), input: input.clone(), is_finished: false });
        EventKind::ServerSideToolStarted { tool, input }
    }

    /// Records that a tool finished; returns the event, if its start was reported.
    pub(super) fn finish(&mut self, tool: &str, input: &Value, error: Option<String>) -> Option<EventKind> {
        let running =
            self.0.iter_mut().find(|used| !used.is_finished && *used.tool == *tool && used.input == *input)?;
        running.is_finished = true;
        Some(finished(&running.tool, running.input.clone(), error))
    }

    /// Returns the events that are missing once the answer is complete, or failed with the given text.
    pub(super) fn complete(mut self, answer: Result<&[ResponsePart], &str>) -> Vec<EventKind> {
        let mut events = Vec::new();
        let (parts, fault) = answer.map_or_else(|fault| (&[][..], Some(fault)), |parts| (parts, None));
        for part in parts {
            if let ResponsePart::ServerSideTool(used) = part
                && !used.is_result_alone()
            {
                self.complete_one(used, &mut events);
            }
        }
        let open = self.0.into_iter().filter(|used| !used.is_finished);
        events.extend(open.map(|ToolUse { tool, input, .. }| finished(&tool, input, fault.map(str::to_owned))));
        events
    }

    fn complete_one(&mut self, used: &ServerSideToolUse, events: &mut Vec<EventKind>) {
        match self.position(used).map(|index| self.0.remove(index)) {
            Some(ToolUse { is_finished: true, .. }) => {}
            Some(ToolUse { tool, .. }) => events.push(finished(&tool, used.input.clone(), used.error.clone())),
            None => events.extend(started_and_finished(used)),
        }
    }

    /// Finds the reported use: one with the same input, or else an unfinished one of the tool, whose input was
    /// incomplete.
    fn position(&self, used: &ServerSideToolUse) -> Option<usize> {
        let is_same = |reported: &ToolUse| *reported.tool == *used.name && reported.input == used.input;
        let is_like = |reported: &ToolUse| *reported.tool == *used.name && !reported.is_finished;
        self.0.iter().position(is_same).or_else(|| self.0.iter().position(is_like))
    }
}

/// Returns the two events of a use in an answer that has it whole.
pub(super) fn started_and_finished(used: &ServerSideToolUse) -> [EventKind; 2] {
    let (tool, input) = (Arc::from(used.name.as_str()), used.input.clone());
    let end = finished(&tool, input.clone(), used.error.clone());
    [EventKind::ServerSideToolStarted { tool, input }, end]
}

fn finished(tool: &Arc<str>, input: Value, error: Option<String>) -> EventKind {
    EventKind::ServerSideToolFinished { tool: Arc::clone(tool), input, error }
}
