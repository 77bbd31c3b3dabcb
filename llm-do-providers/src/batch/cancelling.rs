//! The cancellations of batches that are in flight, so that a program can wait for them before it ends.

use std::mem;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::lock;

/// How long a program waits for them.
const LONGEST: Duration = Duration::from_secs(5);

static IN_FLIGHT: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Cancels a batch in a task. Outside of an async runtime, the batch is left to the provider.
pub(super) fn spawn(cancellation: impl Future<Output = ()> + Send + 'static) {
    let Ok(runtime) = Handle::try_current() else { return };
    let mut in_flight = lock(&IN_FLIGHT);
    in_flight.retain(|task| !task.is_finished());
    in_flight.push(runtime.spawn(cancellation));
}

/// Waits for the cancellations of batches that were given up, for up to 5 s. Not public API. Used by `llm-do`.
pub async fn finish_cancellations() {
    let tasks = mem::take(&mut *lock(&IN_FLIGHT));
    // An error means that the runtime of the task has ended, or that the time is over.
    drop(timeout(LONGEST, join_all(tasks)).await);
}
