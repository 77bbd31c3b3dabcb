//! Where instances are closed: on tasks of their own, each within a limit.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use super::Close;
use crate::base::delay::within;
use crate::base::error::BoxError;

/// How long the `close` of an instance may take, unless the session sets another limit.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Closes the instances of one run, on tasks that neither a timeout nor a dropped future cuts off.
#[derive(Clone, Debug)]
pub(crate) struct Closings {
    tasks: TaskTracker,
    limit: Duration,
}

impl Closings {
    /// Gives each `close` at most `limit`.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { tasks: TaskTracker::new(), limit }
    }

    /// Runs `close` to its end, also if the returned future is dropped.
    pub(super) fn run(
        &self,
        tokio: Option<&Handle>,
        close: impl Future<Output = Result<(), BoxError>> + Send + 'static,
    ) -> Close {
        // Another executor has no tasks for it.
        let Some(tokio) = tokio else { return close.boxed() };
        let task = self.tasks.spawn_on(close, tokio);
        async { task.await? }.boxed()
    }

    /// Waits for one `close` within the limit.
    pub(super) async fn limited(&self, close: Close) -> Result<(), BoxError> {
        match within(self.limit, AssertUnwindSafe(close).catch_unwind()).await {
            Some(closed) => closed.unwrap_or_else(|_| Err("it panicked".into())),
            None => Err(format!("it took longer than {:?}", self.limit).into()),
        }
    }

    /// Waits until everything that is being closed is closed.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
