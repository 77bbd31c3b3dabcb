//! Deadlines of calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CallContext;
use crate::base::error::CallError;

/// The deadline of a call, and the call whose timeout it is.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The registered name of the call that has the timeout.
    pub(crate) call: Arc<str>,
    /// The timeout.
    pub(crate) timeout: Duration,
}

impl Deadline {
    /// Starts the timeout of `call`, less what is spent of it; returns `None` if the deadline is beyond the range of clocks.
    pub(crate) fn after(timeout: Duration, spent: Duration, call: Arc<str>) -> Option<Self> {
        Some(Self { at: Instant::now().checked_add(timeout.saturating_sub(spent))?, call, timeout })
    }

    /// Returns whether the deadline has passed.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    /// Returns the error of a call that timed out.
    pub(crate) fn error(&self) -> CallError {
        CallError::Timeout { tool: self.call.to_string(), after: self.timeout }
    }
}

impl<S> CallContext<S> {
    /// Returns the call's deadline: the earliest of its own and its callers'.
    pub(crate) fn deadline(&self) -> Option<&Deadline> {
        // A call has a deadline only if that is earlier than its caller's, so the nearest is the earliest.
        self.frames().find_map(|frame| frame.deadline.get()).map(AsRef::as_ref)
    }

    /// Waits for the call's own timeout; never returns if it has none.
    pub(crate) async fn own_timeout(&self) -> CallError {
        let Some(deadline) = self.frame().deadline.get() else { return std::future::pending().await };
        tokio::time::sleep_until(deadline.at).await;
        deadline.error()
    }

    /// Waits until the call is cancelled or times out; returns the error for that.
    pub(crate) async fn stopped(&self) -> CallError {
        self.cancelled_or_past(self.deadline()).await
    }

    /// Waits until the call is cancelled or its caller times out.
    pub(crate) async fn stopped_by_caller(&self) -> CallError {
        self.cancelled_or_past(self.caller().and_then(CallContext::deadline)).await
    }

    async fn cancelled_or_past(&self, deadline: Option<&Deadline>) -> CallError {
        let cancelled = async {
            self.cancelled().await;
            CallError::Cancelled { tool: self.name().to_owned() }
        };
        let Some(deadline) = deadline else { return cancelled.await };
        tokio::select! {
            error = cancelled => error,
            () = tokio::time::sleep_until(deadline.at) => deadline.error(),
        }
    }

    /// Returns an error if the deadline has passed.
    pub(crate) fn check_deadline(&self) -> Result<(), CallError> {
        let passed = self.deadline().filter(|deadline| deadline.is_over());
        passed.map_or(Ok(()), |deadline| Err(deadline.error()))
    }
}
