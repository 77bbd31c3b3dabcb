//! The tools that a model's provider runs for an answer, each a span inside that of the request.

use std::sync::Arc;

use serde_json::Value;
use tracing::Span;

use super::begin::provider_tool;
use super::fail;
use crate::observe::event::Event;

/// Those that run.
#[derive(Default)]
pub(super) struct ServerSide(Vec<(Arc<str>, Value, Span)>);

impl ServerSide {
    pub(super) fn begin(&mut self, event: &Event, tool: &Arc<str>, input: &Value, request: &Span, with_content: bool) {
        let span = provider_tool(event, tool, request);
        if with_content && !span.is_disabled() {
            span.record("gen_ai.tool.call.arguments", input.to_string());
        }
        self.0.push((Arc::clone(tool), input.clone(), span));
    }

    /// Ends the one that was asked this, or else the first of that name.
    pub(super) fn end(&mut self, tool: &str, input: &Value, error: Option<&str>, with_content: bool) {
        let same = self.0.iter().position(|(name, asked, _)| **name == *tool && asked == input);
        let Some(place) = same.or_else(|| self.0.iter().position(|(name, ..)| **name == *tool)) else { return };
        let (_, _, span) = self.0.remove(place);
        if let Some(error) = error {
            fail(&span, "server_side_tool_failed");
            if with_content {
                span.record("otel.status_description", error);
            }
        }
    }
}
