//! Replays a complete response as a stream.

use super::{ResponseStream, StreamEvent};
use crate::message::{ResponsePart, ServerSideToolUse};
use crate::response::Response;

/// Returns a stream that replays a complete response: one event per part, then [`StreamEvent::Done`].
///
/// A use of a server-side tool has two events, its start and its end; a file has none.
#[must_use]
pub fn replay(response: Response) -> ResponseStream {
    let mut events = Vec::with_capacity(response.parts.len() + 1);
    let mut calls = 0;
    for part in &response.parts {
        match part {
            ResponsePart::Text { text } => events.push(StreamEvent::Text(text.clone())),
            ResponsePart::Thinking(thought) => events.push(StreamEvent::Thinking(thought.text.clone())),
            ResponsePart::ToolCall(call) => {
                let (name, arguments) = (call.name.as_str().into(), call.arguments.clone());
                events.push(StreamEvent::ToolCall { index: calls, name, arguments });
                calls += 1;
            }
            ResponsePart::ServerSideTool(used) if !used.is_result_alone() => events.extend([used.begun(), used.done()]),
            ResponsePart::ServerSideTool(_) | ResponsePart::Attachment(_) | ResponsePart::Opaque(_) => {}
        }
    }
    events.push(StreamEvent::Done(response));
    Box::pin(futures_util::stream::iter(events.into_iter().map(Ok)))
}

impl ServerSideToolUse {
    /// Returns the event of its start.
    pub(crate) fn begun(&self) -> StreamEvent {
        StreamEvent::ServerSideTool { name: self.name.as_str().into(), input: self.input.clone() }
    }

    /// Returns the event of its end.
    pub(crate) fn done(&self) -> StreamEvent {
        let (name, input) = (self.name.as_str().into(), self.input.clone());
        StreamEvent::ServerSideToolDone { name, input, error: self.error.clone() }
    }
}
