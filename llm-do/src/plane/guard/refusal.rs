//! Why a guard lets something not pass.

use crate::base::error::{CallError, chain};

/// Why a guard lets something not pass, and whether the run goes on.
///
/// `?` makes one of a [`CallError`], for guards that make calls: it stops the run unless the error is mendable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Refusal {
    reason: String,
    stops: bool,
}

impl Refusal {
    /// Tells the caller or the model, which may try something else; `reason` must be fit to show to a model.
    pub fn tell(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), stops: false }
    }

    /// Ends the run, unless code on the way up handles the error.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), stops: true }
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns whether it ends the run.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.stops
    }

    /// Returns the error of what `guard` refused.
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
