//! What a stream reports until the complete response.

use std::sync::Arc;

use serde_json::Value;

use crate::response::Response;

/// An event of a response stream.
///
/// The events before [`Done`](Self::Done) are for display; `Done` has the complete response.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The model has not answered yet: it is loading, waiting for a retry, and so on.
    Waiting {
        /// The reason, in a few words.
        on: String,
    },
    /// A text delta.
    Text(String),
    /// A thinking delta.
    Thinking(String),
    /// A delta of a tool call's arguments.
    ToolCall {
        /// The 0-based index of the call in this answer.
        index: usize,
        /// The tool's complete name.
        name: Arc<str>,
        /// A delta of the arguments' JSON text; the first may be empty.
        arguments: String,
    },
    /// The start of a use of a server-side tool, once its input is known.
    ServerSideTool {
        /// The tool's name, such as `web_search`.
        name: Arc<str>,
        /// The input, in the provider's format.
        input: Value,
    },
    /// The end of a use of a server-side tool, if the provider reports it before the complete response.
    ServerSideToolDone {
        /// The tool's name.
        name: Arc<str>,
        /// The input, as in the start event.
        input: Value,
        /// The provider's error code; `None` if it succeeded.
        error: Option<String>,
    },
    /// The complete response, always the last event.
    Done(Response),
}
