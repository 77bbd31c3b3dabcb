//! The error with which a tool reports that its effect may have happened.

use jiff::Timestamp;

/// The error with which a tool reports that it does not know whether its effect has happened: it sent a request, and
/// received no response.
///
/// The caller gets a [`CallError::OutcomeUnknown`](crate::base::error::CallError::OutcomeUnknown). The request must not be sent again, unless the
/// service detects the repetition, such as by the [idempotency key](crate::plane::context::CallContext::idempotency_key) of the call. A tool of an MCP
/// server that is neither `read_only` nor `idempotent` has this error when the connection is lost during a call.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::error::UnknownOutcome;
/// use llm_do::prelude::*;
///
/// /// Pay a bill.
/// #[tool(effect = destructive)]
/// fn pay(bill: u32) -> Result<u32> {
///     // The connection was lost after the request was sent.
///     Err(UnknownOutcome::new(format!("no answer about the bill {bill}")).into())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().build()?;
/// let error = runtime.run(pay { bill: 7 }).await.unwrap_err();
/// assert!(error.is_outcome_unknown());
/// assert!(error.to_string().starts_with("the outcome of `pay` is unknown: no answer about the bill 7"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown outcome: {reason}")]
pub struct UnknownOutcome {
    pub(crate) reason: String,
    pub(crate) began: Timestamp,
}

impl UnknownOutcome {
    /// Reports that the effect may have happened, now or before.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), began: Timestamp::now() }
    }

    /// Sets when the call began. Default: now.
    #[must_use]
    pub fn began(mut self, began: Timestamp) -> Self {
        self.began = began;
        self
    }
}
