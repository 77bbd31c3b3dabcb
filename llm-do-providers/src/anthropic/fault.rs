//! Errors in answers of status 200.

use serde_json::{Value, json};

use crate::error::ProviderError;
use crate::exchange;
use crate::http::Endpoint;

/// Returns the error for an error object in an answer of status 200, with the HTTP status that its type usually has.
pub(super) fn reported(server: &Endpoint, error: &Value) -> ProviderError {
    let status = error["type"].as_str().and_then(status);
    let Some(status) = status else { return exchange::reported(server, error) };
    exchange::reported(server, &json!({"code": status, "type": error["type"], "message": error["message"]}))
}

/// By <https://platform.claude.com/docs/en/api/errors>.
fn status(r#type: &str) -> Option<u16> {
    match r#type {
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "billing_error" => Some(402),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        "rate_limit_error" => Some(429),
        "api_error" => Some(500),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    }
}
