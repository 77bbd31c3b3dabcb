//! How long a call may take.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::CallContext;
use crate::base::error::CallError;

/// When a call must have ended, and by whose limit.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The registered name of the call that has the limit.
    pub(crate) of: Arc<str>,
    /// The limit.
    pub(crate) after: Duration,
}

impl Deadline {
    /// Begins the time of `of`; none, if it is longer than clocks count.
    pub(crate) fn after(after: Duration, of: Arc<str>) -> Option<Self> {
        Some(Self { at: Instant::now().checked_add(after)?, of, after })
    }

    /// Returns whether it has passed.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    /// Returns the error of a call that met it.
    pub(crate) fn error(&self) -> CallError {
        CallError::Timeout { tool: self.of.to_string(), after: self.after }
    }
}

impl<S> CallContext<S> {
    /// Returns when the call must have ended: its own time begins when it runs, its callers' have begun already.
    pub(crate) fn deadline(&self) -> Option<&Deadline> {
        // A call has one only if it is earlier than its caller's, so that the nearest is the earliest.
        self.frames().find_map(|frame| frame.deadline.get()).map(AsRef::as_ref)
    }

    /// Waits until the call has taken longer than it may itself: for ever, if it has no time of its own.
    pub(crate) async fn out_of_own_time(&self) -> CallError {
        let Some(deadline) = self.frame().deadline.get() else { return std::future::pending().await };
        tokio::time::sleep_until(deadline.at).await;
        deadline.error()
    }

    /// Waits until the call is cancelled, or has taken too long; returns which it is.
    pub(crate) async fn stopped(&self) -> CallError {
        self.stopped_by(self.deadline()).await
    }

    /// Waits until the call is cancelled, or its caller has taken too long.
    pub(crate) async fn stopped_from_above(&self) -> CallError {
        self.stopped_by(self.caller().and_then(CallContext::deadline)).await
    }

    async fn stopped_by(&self, deadline: Option<&Deadline>) -> CallError {
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

    /// Refuses to go on once the call has taken too long.
    pub(crate) fn in_time(&self) -> Result<(), CallError> {
        let over = self.deadline().filter(|deadline| deadline.is_over());
        over.map_or(Ok(()), |deadline| Err(deadline.error()))
    }
}
