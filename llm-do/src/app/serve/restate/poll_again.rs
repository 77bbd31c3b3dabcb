//! Polls a future again immediately if it woke itself.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// How often it is polled before other tasks have their turn.
const POLLS: usize = 8;

/// Awaits a future whose parts wake one another, in one task.
///
/// The scheduler would queue a task that wakes itself last, and wake another thread for it.
pub(super) async fn poll_again<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let wakes = Arc::new(Wakes::default());
    let own = Waker::from(Arc::clone(&wakes));
    poll_fn(|context| {
        wakes.task.register(context.waker());
        for _ in 0..POLLS {
            let polled = wakes.during(|| future.as_mut().poll(&mut Context::from_waker(&own)));
            if polled.is_ready() || !wakes.is_woken.swap(false, Ordering::SeqCst) {
                return polled;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// The wakes of a future, which reach its task unless it is being polled.
#[derive(Default)]
struct Wakes {
    task: AtomicWaker,
    is_polling: AtomicBool,
    is_woken: AtomicBool,
}

impl Wakes {
    fn during<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.is_polling.store(true, Ordering::SeqCst);
        // What was woken for before is seen now.
        self.is_woken.swap(false, Ordering::SeqCst);
        let polled = poll();
        self.is_polling.store(false, Ordering::SeqCst);
        polled
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_polling.load(Ordering::SeqCst) {
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

    use super::{POLLS, poll_again};

    /// A future that wakes itself so many times, and how often it was polled.
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
    fn a_future_that_wakes_itself_ends_in_one_poll_of_its_task() {
        assert_eq!(poll_again(waking(POLLS - 1, &AtomicUsize::new(0))).now_or_never(), Some(()));
    }

    #[tokio::test]
    async fn other_tasks_have_their_turn() {
        let polls = AtomicUsize::new(0);
        assert_eq!(poll_again(waking(100, &polls)).now_or_never(), None);
        assert_eq!(polls.load(Ordering::Relaxed), POLLS);
        poll_again(waking(100, &AtomicUsize::new(0))).await;
    }

    #[tokio::test]
    async fn a_wake_of_another_thread_reaches_the_task() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let wait = tokio::spawn(poll_again(receiver));
        std::thread::spawn(move || sender.send(7)).join().unwrap().unwrap();
        assert_eq!(wait.await.unwrap(), Ok(7));
    }
}
