//! What is said of answers that are none.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};
use crate::http::{self, Endpoint};

/// The error for an error object in an answer of status 200.
pub(crate) fn reported(server: &Endpoint, error: &Value) -> ProviderError {
    http::reported(server.provider, &server.key_hint, error)
}

/// The error for an answer of status 200 that breaks the protocol.
pub(crate) fn odd(server: &Endpoint, what: &str) -> ProviderError {
    let text = format!("{what}; try again, and check that the server speaks {}", server.protocol);
    ProviderError::new(server.provider, ErrorKind::Protocol, text).with_status(200)
}

/// The error for an answer that is not the JSON of the protocol.
pub(crate) fn unread(server: &Endpoint, error: &serde_json::Error) -> ProviderError {
    let place = format!("line {}, column {}", error.line(), error.column());
    odd(server, &format!("the answer is not the JSON of {} ({place})", server.protocol))
}

/// The error for an answer with a call that the model wrote in a way that its server could not read: it writes it anew.
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) fn malformed(server: &Endpoint) -> ProviderError {
    let text = "the model wrote a tool call that the server could not parse; try again, or simplify the tools' arguments";
    ProviderError::new(server.provider, ErrorKind::Protocol, text).with_status(200).with_should_retry(true)
}
