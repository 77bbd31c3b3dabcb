//! Waiting until sinks have processed their events, with and without a timeout, async and blocking.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use futures_util::future::{join_all, poll_immediate};
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use super::EventSink;
use crate::base::delay::within;

/// How long a root call that has finished waits for sinks.
const RUN_FLUSH_TIMEOUT: Duration = Duration::from_millis(50);

/// How often a finished run yields before it waits with a timer; most sinks need a few microseconds.
const YIELDS: u32 = 16;

/// Waits until every sink has processed the events it received.
pub(crate) async fn flush(sinks: &[Arc<dyn EventSink>]) {
    join_all(sinks.iter().map(|sink| sink.flush())).await;
}

/// Flushes the sinks that are awaited, for at most [`RUN_FLUSH_TIMEOUT`].
#[doc(hidden)]
pub async fn flush_with_timeout(sinks: &[Arc<dyn EventSink>]) {
    let mut flushing = pin!(join_all(sinks.iter().filter(|sink| sink.is_awaited()).map(|sink| sink.flush())));
    if poll_immediate(flushing.as_mut()).await.is_some() {
        return;
    }
    // Outside tokio there is no thread pool, so only sinks that are ready now are flushed.
    let Ok(tokio) = Handle::try_current() else { return };
    for _ in 0..YIELDS {
        tokio::task::yield_now().await;
        if poll_immediate(flushing.as_mut()).await.is_some() {
            return;
        }
    }
    // A blocking task keeps tokio's paused clock from advancing. It may get no thread; the timeout does not need it.
    let (done, waiting) = mpsc::channel::<()>();
    let keep_clock = is_clock_paused().then(|| {
        AbortOnDropHandle::new(tokio.spawn_blocking(move || {
            let _ = waiting.recv_timeout(RUN_FLUSH_TIMEOUT);
        }))
    });
    within(RUN_FLUSH_TIMEOUT, flushing).await;
    drop((done, keep_clock));
}

/// Returns whether tokio's clock is paused; also true if the clock is too coarse to see a difference.
fn is_clock_paused() -> bool {
    tokio::time::Instant::now() == tokio::time::Instant::now()
}

/// Runs a future on this thread; returns whether it completed before the timeout.
pub(super) fn block_on(future: impl Future<Output = ()>, timeout: Option<Duration>) -> bool {
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        if future.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Ready(()) {
            return true;
        }
        match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => thread::park(),
            Some(Duration::ZERO) => return false,
            Some(left) => thread::park_timeout(left),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::block_on;

    #[test]
    fn a_future_without_a_timeout_runs_to_completion() {
        let (done, waiting) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || done.send(()));
        assert!(block_on(async { waiting.await.unwrap() }, None));
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn a_pending_future_times_out() {
        assert!(!block_on(pending(), Some(Duration::from_millis(1))));
    }
}
