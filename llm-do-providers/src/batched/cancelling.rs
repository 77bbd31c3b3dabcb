//! The cancellations of batches that are in flight, so that a program can wait for them before it ends.

use std::mem;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a program waits for them.
const LONGEST: Duration = Duration::from_secs(5);

static IN_FLIGHT: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Cancels a batch in a task. Outside of an async runtime, the batch is left to the provider.
#[cfg(feature = "http")]
pub(crate) fn spawn_cancellation(cancellation: impl Future<Output = ()> + Send + 'static) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    let mut in_flight = IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner);
    in_flight.retain(|task| !task.is_finished());
    in_flight.push(runtime.spawn(cancellation));
}

/// Waits for the cancellations of batches that were given up, for up to 5 s. Not public API. Used by `llm-do`.
pub async fn finish_cancellations() {
    let tasks = mem::take(&mut *IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner));
    let finished = async {
        for task in tasks {
            // An error means that its runtime has ended.
            drop(task.await);
        }
    };
    // An error means that the time is over.
    drop(timeout(LONGEST, finished).await);
}
