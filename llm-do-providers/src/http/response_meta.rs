//! The headers of an answer: the request ID and, for an error response, whether and when to retry.

use std::time::{Duration, SystemTime};

use reqwest::Response;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::error_response::is_word;
use crate::error::ProviderError;
use crate::retry;

/// The headers in which providers send the request ID.
static REQUEST_ID: [HeaderName; 2] = [HeaderName::from_static("x-request-id"), HeaderName::from_static("request-id")];

/// The limits in the names of headers.
const LIMITS: [&str; 2] = ["requests", "tokens"];

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
            retry_after: delay(&text),
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
    pub(super) fn from_response(answer: &Response) -> Self {
        Self { status: Some(answer.status().as_u16()), request_id: request_id(answer.headers()) }
    }

    /// Adds the values to an error that lacks them.
    pub(crate) fn add_to(&self, mut error: ProviderError) -> ProviderError {
        if let (None, Some(status)) = (error.status(), self.status) {
            error = error.with_status(status);
        }
        named(error, self.request_id.as_ref())
    }
}

/// Returns the delay that the headers request: the most exact one, or the time until an exhausted limit is reset.
fn delay<'a>(text: &impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let asked = text("retry-after-ms").and_then(retry::retry_after_ms);
    let asked =
        asked.or_else(|| text(RETRY_AFTER.as_str()).and_then(|value| retry::retry_after(value, SystemTime::now())));
    asked.or_else(|| LIMITS.iter().filter_map(|limit| until_reset(text, limit)).max())
}

/// By <https://platform.openai.com/docs/guides/rate-limits> and <https://console.groq.com/docs/rate-limits>.
fn until_reset<'a>(text: &impl Fn(&str) -> Option<&'a str>, limit: &str) -> Option<Duration> {
    let is_used_up = text(&format!("x-ratelimit-remaining-{limit}"))?.trim() == "0";
    text(&format!("x-ratelimit-reset-{limit}")).filter(|_| is_used_up).and_then(retry::until_reset)
}

/// Returns the value of a header, if it is text.
fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    REQUEST_ID.iter().find_map(|name| headers.get(name)).cloned()
}

fn named(error: ProviderError, id: Option<&HeaderValue>) -> ProviderError {
    match id.and_then(|id| id.to_str().ok()).filter(|id| error.request_id().is_none() && is_word(id)) {
        Some(id) => error.with_request_id(id),
        None => error,
    }
}
