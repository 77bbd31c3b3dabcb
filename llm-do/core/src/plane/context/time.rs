//! Deadlines of calls.

use std::cmp::Reverse;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use tokio::time::Instant;

use super::CallContext;
use crate::base::error::CallError;
use crate::base::pauses::{PausableTimer, Pause};

/// The deadline of a call, with the call whose timeout it is. It is paused while a person is asked in the call or below
/// it.
#[derive(Debug)]
pub(crate) struct Deadline {
    timer: PausableTimer,
    /// The registered name of the call that has the timeout.
    call: Arc<str>,
    /// The timeout.
    timeout: Duration,
}

impl Deadline {
    /// Starts the timeout of `call`, of which `spent` has already elapsed.
    pub(crate) fn after(timeout: Duration, spent: Duration, call: Arc<str>) -> Self {
        Self { timer: PausableTimer::new(timeout.saturating_sub(spent)), call, timeout }
    }

    /// Returns when the deadline passes if no further person is asked.
    pub(crate) fn end(&self) -> Instant {
        self.timer.end()
    }

    /// Returns the error of a call that timed out.
    fn error(&self) -> CallError {
        CallError::Timeout { tool: self.call.to_string(), after: self.timeout }
    }
}

impl<S> CallContext<S> {
    /// Returns the deadlines of the call and its callers, innermost first.
    fn deadlines(&self) -> impl Iterator<Item = &Deadline> {
        self.frames().filter_map(|frame| frame.deadline.get()).map(AsRef::as_ref)
    }

    /// Returns the call's deadline: the earliest of its own and its callers'; of equal ones, the outermost.
    pub(crate) fn deadline(&self) -> Option<&Deadline> {
        self.deadlines().max_by_key(|deadline| Reverse(deadline.end()))
    }

    /// Pauses the deadlines of this call, its callers and the run until the returned guards are dropped, while a person
    /// is asked.
    pub(crate) fn pause_for_person(&self) -> Vec<Pause> {
        let of_run = self.frames().last().map(|user| user.extras_or_default().waits.begin());
        self.deadlines().map(|deadline| deadline.timer.pause()).chain(of_run).collect()
    }

    /// Returns how long the run of a user's context has been paused for people.
    #[doc(hidden)]
    #[cfg(feature = "serve")]
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.frame().extras().map(|extras| extras.waits.total()).unwrap_or_default()
    }

    /// Waits for the call's own timeout; never returns if it has none.
    pub(crate) async fn own_timeout(&self) -> CallError {
        let Some(deadline) = self.frame().deadline.get() else { return std::future::pending().await };
        deadline.timer.expired().await;
        deadline.error()
    }

    /// Waits until the call is cancelled or times out; returns its error.
    pub(crate) async fn stopped(&self) -> CallError {
        self.cancelled_or_past(self.deadlines().collect()).await
    }

    /// Waits until the call is cancelled or its caller times out.
    pub(crate) async fn stopped_by_caller(&self) -> CallError {
        self.cancelled_or_past(self.caller().into_iter().flat_map(CallContext::deadlines).collect()).await
    }

    async fn cancelled_or_past(&self, mut deadlines: Vec<&Deadline>) -> CallError {
        let cancelled = async {
            self.cancelled().await;
            CallError::Cancelled { tool: self.name().to_owned() }
        };
        if deadlines.is_empty() {
            return cancelled.await;
        }
        // The earliest comes first, and of equal ones the outermost, which is polled first.
        deadlines.reverse();
        deadlines.sort_by_key(|deadline| deadline.end());
        // All deadlines are awaited, since pauses change which one is the earliest.
        let past = deadlines.into_iter().map(|deadline| -> Pin<Box<dyn Future<Output = CallError> + Send + '_>> {
            Box::pin(async move {
                deadline.timer.expired().await;
                deadline.error()
            })
        });
        tokio::select! {
            error = cancelled => error,
            (error, ..) = select_all(past) => error,
        }
    }

    /// Returns an error if a deadline has passed.
    pub(crate) fn check_deadline(&self) -> Result<(), CallError> {
        let passed = self.deadline().filter(|deadline| deadline.timer.is_over());
        passed.map_or(Ok(()), |deadline| Err(deadline.error()))
    }
}
