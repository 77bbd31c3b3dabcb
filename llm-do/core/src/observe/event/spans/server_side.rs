//! The spans of server-side tools, each inside that of the request.

use std::sync::Arc;

use serde_json::Value;
use tracing::Span;

use super::fail;
use super::start::provider_tool;
use crate::observe::event::Event;

/// The spans of the tools that are running.
#[derive(Default)]
pub(super) struct ServerSideSpans(Vec<(Arc<str>, Value, Span)>);

impl ServerSideSpans {
    pub(super) fn start(&mut self, event: &Event, tool: &Arc<str>, input: &Value, request: &Span, with_content: bool) {
        let span = provider_tool(event, tool, request);
        if with_content && !span.is_disabled() {
            span.record("gen_ai.tool.call.arguments", input.to_string());
        }
        self.0.push((Arc::clone(tool), input.clone(), span));
    }

    /// Ends the span of the tool with this input; otherwise the first span of a tool of that name.
    pub(super) fn finish(&mut self, tool: &str, input: &Value, error: Option<&str>, with_content: bool) {
        let same = self.0.iter().position(|(name, given, _)| **name == *tool && given == input);
        let Some(index) = same.or_else(|| self.0.iter().position(|(name, ..)| **name == *tool)) else { return };
        let (_, _, span) = self.0.remove(index);
        if let Some(error) = error {
            fail(&span, "server_side_tool_failed");
            if with_content {
                span.record("otel.status_description", error);
            }
        }
    }
}
