//! Errors in answers of status 200.

use crate::error::{ErrorKind, ProviderError};
use crate::http::Endpoint;

/// Returns the error for a prompt that the content filter blocked.
pub(super) fn blocked_prompt(server: &Endpoint, reason: &str) -> ProviderError {
    let is_word = reason.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') && reason.len() <= 64;
    let reason = if is_word { format!(" ({reason})") } else { String::new() };
    let text = format!("the provider's content filter refused the request{reason}; rephrase the request");
    ProviderError::new(server.provider, ErrorKind::ContentFilter, text).with_status(200)
}
