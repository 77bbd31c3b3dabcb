//! The errors of the embedded model.

use crate::error::{ErrorKind, ProviderError};

/// Whose errors they are.
pub(super) const PROVIDER: &str = "local";

/// Returns an error of the embedded model.
fn fault(kind: ErrorKind, message: impl Into<String>) -> ProviderError {
    ProviderError::new(PROVIDER, kind, message)
}

/// A model or a file that is not there, or is not what it should be.
pub(super) fn configuration(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::Configuration, message)
}

/// A request that cannot be answered as it is.
pub(super) fn invalid(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::InvalidRequest, message)
}

/// A conversation that the model cannot read to its end.
pub(super) fn too_long(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::ContextTooLong, message)
}

/// Something that should not happen with a sound file and a sound schema.
pub(super) fn broken(message: impl Into<String>) -> ProviderError {
    fault(ErrorKind::Protocol, message)
}

/// The asking side has gone away.
pub(super) fn cancelled() -> ProviderError {
    fault(ErrorKind::Cancelled, "the request was cancelled")
}

/// Arithmetic that failed.
pub(super) fn arithmetic(source: candle_core::Error) -> ProviderError {
    broken("the model could not be computed; its file may be broken").with_source(source)
}
