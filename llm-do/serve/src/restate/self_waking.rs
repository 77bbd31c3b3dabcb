//! Polls a run in the task of its log. A run that wakes itself is polled again directly, without the scheduler.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// The maximum number of consecutive polls of a run that wakes itself, before other tasks are polled.
const POLLS: usize = 8;

/// A run that is polled again immediately if it woke itself.
///
/// The scheduler would queue its task last, and wake another thread for it. Only the run is polled again: the futures
/// of the engine's SDK must not be polled once an attempt has ended, which the SDK detects after each poll of the task.
pub(super) struct SelfWaking<F> {
    run: F,
    wakes: Arc<Wakes>,
    waker: Waker,
}

/// The wakes of a run; its task receives them unless they are held.
#[derive(Default)]
pub(super) struct Wakes {
    task: AtomicWaker,
    are_held: AtomicBool,
    is_woken: AtomicBool,
}

impl<F: Future + Unpin> SelfWaking<F> {
    pub(super) fn new(run: F) -> Self {
        let wakes = Arc::new(Wakes::default());
        Self { run, waker: Waker::from(Arc::clone(&wakes)), wakes }
    }

    pub(super) fn wakes(&self) -> Arc<Wakes> {
        Arc::clone(&self.wakes)
    }
}

impl<F: Future + Unpin> Future for SelfWaking<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { run, wakes, waker } = &mut *self;
        wakes.task.register(context.waker());
        for _ in 0..POLLS {
            wakes.hold();
            // This poll handles earlier wakes.
            wakes.is_woken.swap(false, Ordering::SeqCst);
            let polled = Pin::new(&mut *run).poll(&mut Context::from_waker(waker));
            wakes.are_held.store(false, Ordering::SeqCst);
            if polled.is_ready() || !wakes.is_woken.swap(false, Ordering::SeqCst) {
                return polled;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Wakes {
    /// Holds wakes back until the run is polled, which must follow in the same poll of the task.
    pub(super) fn hold(&self) {
        self.are_held.store(true, Ordering::SeqCst);
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.are_held.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;

    use futures_util::FutureExt;

    use super::{POLLS, SelfWaking};

    /// A future that wakes itself so many times, and counts how often it was polled.
    fn waking(times: usize, polls: &AtomicUsize) -> impl Future<Output = ()> {
        poll_fn(move |context| {
            if polls.fetch_add(1, Ordering::Relaxed) == times {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[test]
    fn a_run_that_wakes_itself_ends_in_one_poll_of_its_task() {
        assert_eq!(SelfWaking::new(waking(POLLS - 1, &AtomicUsize::new(0))).now_or_never(), Some(()));
    }

    #[tokio::test]
    async fn other_tasks_have_their_turn() {
        let polls = AtomicUsize::new(0);
        assert_eq!(SelfWaking::new(waking(100, &polls)).now_or_never(), None);
        assert_eq!(polls.load(Ordering::Relaxed), POLLS);
        SelfWaking::new(waking(100, &AtomicUsize::new(0))).await;
    }

    #[tokio::test]
    async fn a_wake_of_another_thread_reaches_the_task() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let wait = tokio::spawn(SelfWaking::new(receiver));
        std::thread::spawn(move || sender.send(7)).join().unwrap().unwrap();
        assert_eq!(wait.await.unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn a_wake_that_is_held_is_seen_by_the_next_poll() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let mut run = SelfWaking::new(receiver);
        assert_eq!((&mut run).now_or_never(), None);
        run.wakes().hold();
        sender.send(7).unwrap();
        assert_eq!(run.now_or_never(), Some(Ok(7)));
    }
}
