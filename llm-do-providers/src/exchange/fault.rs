//! Errors for invalid answers.

use serde_json::Value;

use super::MAX_PARTS;
use crate::error::{ErrorKind, ProviderError};
use crate::http::{self, Endpoint};

/// The error for an error object in an answer of status 200.
pub(crate) fn reported(server: &Endpoint, error: &Value) -> ProviderError {
    let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
    server.with_text(http::reported(server.provider, &server.key_hint, error), &text)
}

/// The error for an answer of status 200 that breaks the protocol.
pub(crate) fn protocol_error(server: &Endpoint, what: &str) -> ProviderError {
    let text = format!("{what}; try again, and check that the server speaks {}", server.protocol);
    ProviderError::new(server.provider, ErrorKind::Protocol, text).with_status(200)
}

/// The error for an answer with too many parts, which would take too long to read.
pub(crate) fn too_many_parts(server: &Endpoint) -> ProviderError {
    protocol_error(server, &format!("the answer has more than {MAX_PARTS} parts")).with_should_retry(false)
}

/// The error for a stream that ended before its answer: the connection was lost.
pub(crate) fn broke_off(server: &Endpoint) -> ProviderError {
    let text = "the stream broke off before the end of the answer; try again";
    ProviderError::new(server.provider, ErrorKind::Transport, text).with_status(200)
}

/// The error for an answer that is not the JSON of the protocol.
pub(crate) fn invalid_json(server: &Endpoint, error: &serde_json::Error) -> ProviderError {
    let place = format!("line {}, column {}", error.line(), error.column());
    protocol_error(server, &format!("the answer is not the JSON of {} ({place})", server.protocol))
}

/// The error for a tool call that the server could not parse; it can be retried, as the model writes a new call.
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) fn malformed(server: &Endpoint) -> ProviderError {
    let text =
        "the model wrote a tool call that the server could not parse; try again, or simplify the tools' arguments";
    ProviderError::new(server.provider, ErrorKind::Protocol, text).with_status(200).with_should_retry(true)
}
