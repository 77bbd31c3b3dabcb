//! The headers of an answer: the request ID and, for an error response, whether and when to retry.

use std::time::{Duration, SystemTime};

use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::error_response::is_word;
use crate::error::ProviderError;
use crate::retry;

/// The headers in which providers send the request ID.
static REQUEST_ID: [HeaderName; 2] = [HeaderName::from_static("x-request-id"), HeaderName::from_static("request-id")];

/// The headers of an error response.
pub(super) struct ErrorHeaders {
    retry_after: Option<Duration>,
    should_retry: Option<bool>,
    request_id: Option<HeaderValue>,
}

/// The status and the request ID of an answer, for later errors; empty before its head.
#[derive(Debug, Default)]
pub(crate) struct ResponseMeta {
    status: Option<u16>,
    request_id: Option<HeaderValue>,
}

impl ErrorHeaders {
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            retry_after: text(RETRY_AFTER.as_str()).and_then(|value| retry::retry_after(value, SystemTime::now())),
            should_retry: text("x-should-retry").and_then(|value| value.parse().ok()),
            request_id: request_id(headers),
        }
    }

    pub(super) fn add_to(self, mut error: ProviderError) -> ProviderError {
        if let Some(wait) = self.retry_after {
            error = error.with_retry_after(wait);
        }
        if let Some(should_retry) = self.should_retry {
            error = error.with_should_retry(should_retry);
        }
        named(error, self.request_id.as_ref())
    }
}

impl ResponseMeta {
    pub(super) fn of(answer: &Response) -> Self {
        Self { status: Some(answer.status().as_u16()), request_id: request_id(answer.headers()) }
    }

    /// Adds the values that the error does not have itself.
    pub(crate) fn add_to(&self, mut error: ProviderError) -> ProviderError {
        if let Some(status) = self.status.filter(|_| error.status().is_none()) {
            error = error.with_status(status);
        }
        named(error, self.request_id.as_ref())
    }
}

/// Returns the header without a copy: most answers are not errors.
fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    REQUEST_ID.iter().find_map(|name| headers.get(name)).cloned()
}

fn named(error: ProviderError, id: Option<&HeaderValue>) -> ProviderError {
    match id.and_then(|id| id.to_str().ok()).filter(|id| error.request_id().is_none() && is_word(id)) {
        Some(id) => error.with_request_id(id),
        None => error,
    }
}
