//! Waiting for sinks: without end, for a while, and from code that is not async.

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

/// How long a root call that has ended waits for sinks.
const AT_THE_END_OF_A_RUN: Duration = Duration::from_millis(50);

/// Waits until every sink has dealt with what it has taken.
pub(crate) async fn flush(sinks: &[Arc<dyn EventSink>]) {
    join_all(sinks.iter().map(|sink| sink.flush())).await;
}

/// Waits for sinks as [`flush`] does, but not for those that take too long.
pub(crate) async fn settle(sinks: &[Arc<dyn EventSink>]) {
    if poll_immediate(flush(sinks)).await.is_some() {
        return;
    }
    // Another executor polls whatever needs none of tokio, and then does not wait.
    let Ok(tokio) = Handle::try_current() else { return };
    // A paused clock of tokio stands still while a thread of it waits. It may get no thread: the limit needs none.
    let (done, waiting) = mpsc::channel::<()>();
    let standstill = AbortOnDropHandle::new(tokio.spawn_blocking(move || {
        let _ = waiting.recv_timeout(AT_THE_END_OF_A_RUN);
    }));
    within(AT_THE_END_OF_A_RUN, flush(sinks)).await;
    drop((done, standstill));
}

/// Runs a future on this thread; returns whether it came to its end in time.
pub(super) fn block_on(future: impl Future<Output = ()>, patience: Option<Duration>) -> bool {
    let deadline = patience.map(|patience| Instant::now() + patience);
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
    fn a_future_is_waited_for_as_long_as_it_takes() {
        let (done, waiting) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || done.send(()));
        assert!(block_on(async { waiting.await.unwrap() }, None));
        thread.join().unwrap().unwrap();
    }

    #[test]
    fn patience_ends() {
        assert!(!block_on(pending(), Some(Duration::from_millis(1))));
    }
}
