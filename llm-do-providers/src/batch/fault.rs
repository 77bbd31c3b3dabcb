//! Errors of batches.

use crate::batched::BatchTicket;
use crate::error::{ErrorKind, ProviderError};

/// The error for a request that its batch did not come to before it expired.
pub(crate) fn expired(provider: &str) -> ProviderError {
    let text = "the batch expired before its request was answered; try again, or without `batch`";
    ProviderError::new(provider, ErrorKind::Timeout, text)
}

/// The error for a request of a batch that was cancelled at the provider.
pub(crate) fn cancelled(provider: &str) -> ProviderError {
    let text = "the batch was cancelled at the provider before its request was answered; run it again";
    ProviderError::new(provider, ErrorKind::Cancelled, text)
}

/// The error for a batch that the provider did not begin, for the reason `error`: a further one would fail as well.
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) fn failed(error: ProviderError) -> ProviderError {
    error.with_should_retry(false).with_note("the provider refused the whole batch")
}

/// The error of a server without a batch API, in place of its own.
pub(crate) fn no_api(error: ProviderError) -> ProviderError {
    if matches!(error.status(), Some(404 | 405 | 501)) {
        return error
            .with_should_retry(false)
            .with_note("the server may have no batch API; unset `batch`, or check the base URL");
    }
    error
}

pub(super) fn without_answer(provider: &str) -> ProviderError {
    let text = "the batch ended without an answer to its request; try again later";
    ProviderError::new(provider, ErrorKind::Unavailable, text)
}

pub(super) fn too_large(provider: &str, bytes: usize) -> ProviderError {
    let text =
        format!("the request is larger than {} MiB, the limit of a batch; shorten it, or unset `batch`", bytes >> 20);
    ProviderError::new(provider, ErrorKind::ContextTooLong, text).with_status(413)
}

pub(super) fn other_provider(provider: &str, ticket: &BatchTicket) -> ProviderError {
    let text = format!(
        "the run waits for the batch `{}` of `{}`, and its model is now one of `{provider}`; set its former model",
        ticket.batch, ticket.provider
    );
    ProviderError::new(provider, ErrorKind::Configuration, text)
}
