//! The errors of the embedded model.

use crate::error::{ErrorKind, ProviderError};

/// The provider name of the errors.
pub(super) const PROVIDER: &str = "local";

/// Returns an error of the embedded model.
fn fault(kind: ErrorKind, message: impl Into<String>) -> ProviderError {
    ProviderError::new(PROVIDER, kind, message)
}

/// A missing or invalid model or file.
pub(super) fn configuration(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::Configuration, message)
}

/// A request that the model cannot answer as it is.
pub(super) fn invalid(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::InvalidRequest, message)
}

/// A conversation longer than the context.
pub(super) fn too_long(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::ContextTooLong, message)
}

/// A failure that should not happen with a valid file and a valid schema.
pub(super) fn internal(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::Protocol, message)
}

/// The caller has dropped the request.
pub(super) fn cancelled() -> ProviderError {
    fault(ErrorKind::Cancelled, "the request was cancelled")
}

/// A computation failed.
pub(super) fn arithmetic(source: candle_core::Error) -> ProviderError {
    internal("the computation of the model failed; its file may be damaged").with_source(source)
}
