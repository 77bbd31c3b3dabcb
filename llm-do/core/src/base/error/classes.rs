//! The meaning of an error for callers, models and operators.

use super::cause::cause;
use super::{CallError, Fault, chain};

impl CallError {
    /// Returns whether this error can be returned to a model, which may then try something else.
    ///
    /// False for denials, limits, cancellation and failed models, also if they caused a tool's failure.
    #[must_use]
    pub fn is_recoverable(&self) -> bool {
        // The request to the provider has been retried already, or its error is permanent.
        !matches!(
            self.innermost(),
            Self::Model { .. }
                | Self::NoModel { .. }
                | Self::UnfitModel { .. }
                | Self::Denied { .. }
                | Self::Blocked { .. }
                | Self::Refused { stops: true, .. }
                | Self::Depth { .. }
                | Self::Nesting { .. }
                | Self::Cycle { .. }
                | Self::Limit { .. }
                | Self::Journal { .. }
                | Self::Cancelled { .. }
        )
    }

    /// Returns the text for the model that made the call, which may quote the arguments that the model gave.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::error::Fault;
    /// use llm_do::CallError;
    ///
    /// let message = Fault::new("`age`: expected u8").with_model_message("`age`: expected u8, not \"ten\"");
    /// let error = CallError::InvalidArguments { tool: "greet".into(), message };
    /// assert_eq!(error.to_string(), "invalid arguments for `greet`: `age`: expected u8");
    /// assert_eq!(error.model_message(), "invalid arguments for `greet`: `age`: expected u8, not \"ten\"");
    /// ```
    #[must_use]
    pub fn model_message(&self) -> String {
        match self {
            Self::InvalidArguments { tool, message } => {
                format!("invalid arguments for `{tool}`: {}", message.model_message())
            }
            Self::Timeout { tool, after } => format!("`{tool}` timed out after {after:?}"),
            Self::OutcomeUnknown { .. } => {
                format!("{self}; find out whether it did, by a tool that only reads, before you call it again")
            }
            Self::NoInput { tool } => format!("`{tool}` asks the user, but no user can answer"),
            Self::DryRun { tool } => format!(
                "`{tool}` did not run, since this is a dry run: nothing is changed, and there is no result. The call is noted for the \
                 user. Continue with what does not depend on its result, and do not repeat the call"
            ),
            // The arguments of nested calls are not from the model, so they are not quoted.
            _ => chain(self),
        }
    }

    /// Returns the error of a call with invalid arguments.
    pub(crate) fn invalid(tool: &str, fault: impl Into<Fault>) -> Self {
        Self::InvalidArguments { tool: tool.to_owned(), message: fault.into() }
    }

    /// Returns whether the call, or a call nested in it, was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.innermost(), Self::Cancelled { .. })
    }

    /// Returns whether the call, or a call nested in it, abstained: see [`Unsure`](crate::base::error::Unsure).
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        matches!(self.innermost(), Self::Unsure { .. })
    }

    /// Returns whether the outcome of the call, or of a call nested in it, is [unknown](Self::OutcomeUnknown).
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        matches!(self.innermost(), Self::OutcomeUnknown { .. })
    }

    /// Returns whether the call, or a call nested in it, did not run because the run is a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html).
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        matches!(self.innermost(), Self::DryRun { .. })
    }

    /// Returns whether the call, or a call nested in it, timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.innermost(), Self::Timeout { .. })
    }

    /// Returns whether the call, or a call nested in it, was denied or is blocked.
    ///
    /// False if the operating system denies access, such as to a file; that is a failure of the tool.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.innermost(), Self::Denied { .. } | Self::Blocked { .. })
    }

    /// Returns whether the call, or a call nested in it, was denied by a decision that ends the run.
    ///
    /// Such an error is not returned to a model: the approver [stopped](crate::plane::approval::Decision::DeniedAndStopped)
    /// the run, or there was [no decision](crate::plane::approval::Decision::Undecided).
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self.innermost(), Self::Denied { stops: true, .. })
    }

    /// Returns whether the call, or a call nested in it, is blocked, so that no approval is possible.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        matches!(self.innermost(), Self::Blocked { .. })
    }

    /// Returns whether a guard refused the call, or a call nested in it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.innermost(), Self::Refused { .. })
    }

    /// Returns whether the plane itself ended the call or a call nested in it, such as by a limit, denial or
    /// cancellation.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of_plane(&self) -> bool {
        !self.is_recoverable() && !matches!(self.innermost(), Self::Model { .. } | Self::Refused { .. })
    }

    /// Replaces the name `tool` with `name`, unless the error belongs to a nested call.
    pub(crate) fn renamed(mut self, tool: &str, name: &str) -> Self {
        match &mut self {
            Self::InvalidArguments { tool: called, .. }
            | Self::Denied { tool: called, .. }
            | Self::Blocked { tool: called, .. }
            | Self::Refused { tool: called, .. }
            | Self::DryRun { tool: called }
            | Self::Panicked { tool: called, .. }
            | Self::OutcomeUnknown { tool: called, .. }
            | Self::Unsure { tool: called, .. }
            | Self::Failed { tool: called, .. }
            | Self::GaveUp { worker: called, .. }
                if called == tool =>
            {
                name.clone_into(called);
            }
            _ => {}
        }
        self
    }

    /// Returns the error of the innermost call that failed.
    pub(crate) fn innermost(&self) -> &Self {
        match self {
            Self::Failed { source, .. } | Self::Other(source) => cause(source.as_ref()).map_or(self, Self::innermost),
            _ => self,
        }
    }
}
