//! Errors in answers of status 200.

use serde_json::Value;

use crate::error::{ErrorKind, ProviderError};
use crate::exchange::reported;
use crate::http::{Endpoint, flat_error};

/// Returns the error of an event, whose fields are in the event or in its `error`.
pub(super) fn failed(server: &Endpoint, data: &str) -> ProviderError {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    let error = event.get("error").filter(|error| error.is_object()).cloned();
    // The `type` of the event itself contains no information.
    let error = error.or_else(|| flat_error(&event)).unwrap_or(event);
    reported(server, &error)
}

/// Returns the error for the status of an answer that is created in the background and has no output, by
/// <https://developers.openai.com/api/docs/guides/background> (read 2026-11-22).
pub(super) fn unfinished(server: &Endpoint, status: &str) -> Option<ProviderError> {
    let (kind, text) = match status {
        "queued" | "in_progress" => (
            ErrorKind::InvalidRequest,
            format!(
                "the answer is created in the background (its status is `{status}`), which is not supported; leave \
                 `background` out of the request"
            ),
        ),
        "cancelled" => (ErrorKind::Cancelled, "the answer was cancelled at the provider".to_owned()),
        _ => return None,
    };
    Some(ProviderError::new(server.provider, kind, text).with_status(200).with_should_retry(false))
}
