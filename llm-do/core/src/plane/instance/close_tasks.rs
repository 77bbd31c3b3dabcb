//! Closes instances in separate tasks, each with a timeout.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use super::Close;
use crate::base::delay::within;
use crate::base::error::BoxError;

/// The default timeout of the `close` of an instance.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Closes the instances of one run in tasks that are not stopped by a timeout of the call or by dropping its future.
#[derive(Clone, Debug)]
pub(crate) struct CloseTasks {
    tasks: TaskTracker,
    timeout: Duration,
}

impl CloseTasks {
    /// Sets the timeout of each `close`.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { tasks: TaskTracker::new(), timeout }
    }

    /// Runs `close` to completion, even if the returned future is dropped.
    pub(super) fn run(
        &self,
        tokio: Option<&Handle>,
        close: impl Future<Output = Result<(), BoxError>> + Send + 'static,
    ) -> Close {
        // Outside tokio, there are no tasks to spawn.
        let Some(tokio) = tokio else { return close.boxed() };
        let task = self.tasks.spawn_on(close, tokio);
        async { task.await? }.boxed()
    }

    /// Waits for one `close`, at most for the timeout.
    pub(super) async fn with_timeout(&self, close: Close) -> Result<(), BoxError> {
        match within(self.timeout, AssertUnwindSafe(close).catch_unwind()).await {
            Some(closed) => closed.unwrap_or_else(|_| Err("`close` panicked".into())),
            None => Err(format!("`close` took longer than {:?}", self.timeout).into()),
        }
    }

    /// Waits until all instances are closed.
    pub(crate) async fn finished(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
