//! What the headers of a refusal say: when to try again, whether, and what the request is called.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::refusal::is_word;
use crate::error::ProviderError;
use crate::retry;

/// Where providers say what they call a request.
const REQUEST_ID: [&str; 2] = ["x-request-id", "request-id"];

/// What the headers of a refusal say.
pub(super) struct Said {
    retry_after: Option<Duration>,
    should_retry: Option<bool>,
    request_id: Option<String>,
}

impl Said {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            retry_after: text(RETRY_AFTER.as_str()).and_then(|value| retry::retry_after(value, SystemTime::now())),
            should_retry: text("x-should-retry").and_then(|value| value.parse().ok()),
            request_id: REQUEST_ID.into_iter().find_map(text).filter(|id| is_word(id)).map(str::to_owned),
        }
    }

    pub(super) fn add_to(self, mut error: ProviderError) -> ProviderError {
        if let Some(wait) = self.retry_after {
            error = error.with_retry_after(wait);
        }
        if let Some(should_retry) = self.should_retry {
            error = error.with_should_retry(should_retry);
        }
        match self.request_id {
            Some(id) => error.with_request_id(id),
            None => error,
        }
    }
}
