//! The error with which a guard refuses a call, request or response.

use crate::base::error::{CallError, chain};

/// The error with which a guard refuses a call, request or response; it may stop the run.
///
/// `?` converts a [`CallError`] of a guard's own call: the refusal stops the run unless the error is
/// [recoverable](CallError::is_recoverable).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Refusal {
    reason: String,
    stops: bool,
}

impl Refusal {
    /// Refuses, and reports `reason` to the caller or the model, which may continue; models may see `reason`.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), stops: false }
    }

    /// Refuses and stops the run, unless a caller written as code handles the error.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), stops: true }
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns whether the refusal stops the run.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.stops
    }

    /// Returns the error of the call of `tool` that `guard` refused.
    pub(super) fn into_error(self, tool: &str, guard: &str) -> CallError {
        let Self { reason, stops } = self;
        CallError::Refused { tool: tool.to_owned(), guard: guard.to_owned(), reason, stops }
    }
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Self {
        Self { reason: chain(&error), stops: !error.is_recoverable() }
    }
}
