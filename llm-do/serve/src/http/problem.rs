//! Errors of requests, as problem details (RFC 9457).

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use llm_do_core::observe::journal::JournalError;
use serde_json::{Map, Value, json};

use crate::store::StoreError;

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    /// A stable code for programs, such as `unknown_run`.
    code: &'static str,
    detail: String,
    more: Map<String, Value>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), more: Map::new() }
    }

    /// Adds a member.
    pub(super) fn with(mut self, name: &str, value: Value) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    pub(super) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", detail)
    }

    /// The answer for a resource that does not exist, or that the client may not see, so that the two cannot be
    /// distinguished.
    pub(super) fn unknown(what: &'static str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("unknown {what}"))
    }

    pub(super) fn unauthenticated() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "unauthenticated",
            "missing or invalid bearer token: send the header `Authorization: Bearer TOKEN`",
        )
    }

    /// The answer for a webhook's request. It does not report which part is wrong, since that would help a forger.
    pub(super) fn unsigned() -> Self {
        let text = "missing, invalid or expired signature: sign the request with the secret of the webhook, by Standard Webhooks \
                    (`webhook-signature`) or as GitHub does (`x-hub-signature-256`)";
        Self::new(StatusCode::UNAUTHORIZED, "invalid_signature", text)
    }

    pub(super) fn storage_failed() -> Self {
        let text = "the service cannot read or write its database; try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "storage_failed", text)
    }

    pub(super) fn forbidden(role: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", format!("the role `{role}` is required"))
    }
}

impl From<StoreError> for Problem {
    /// The path and the error of the file concern only the operator; the engine meets and reports the same error.
    fn from(_: StoreError) -> Self {
        Self::storage_failed()
    }
}

impl From<JournalError> for Problem {
    fn from(_: JournalError) -> Self {
        Self::storage_failed()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self { status, code, detail, more } = self;
        let mut body = json!({
            "type": format!("urn:llm-do:problem:{code}"),
            "title": status.canonical_reason().unwrap_or_default(),
            "status": status.as_u16(),
            "detail": detail,
        });
        if let Value::Object(body) = &mut body {
            body.extend(more);
        }
        let mut response = (status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if code == "too_many_requests" {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if status == StatusCode::UNAUTHORIZED {
            let scheme = if code == "unauthenticated" { "Bearer" } else { "Signature" };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        }
        response
    }
}
