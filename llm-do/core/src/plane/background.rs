//! Calls in the background: they run beside the call that started them, and end before it.
//!
//! They are polled by that call, like every other call that it makes, so that they are dropped with it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use crate::base::mutex::{IgnorePoison, LazyMutex};
use crate::plane::origin::Reading;

/// A call in the background, which passes its result on itself.
pub(crate) type BackgroundCall = BoxFuture<'static, ()>;

/// The calls that one call starts in the background.
#[derive(Default)]
pub(crate) struct BackgroundCalls(Mutex<State>);

#[derive(Default)]
struct State {
    /// Whether the call runs, so that it polls them.
    is_open: bool,
    /// The calls that are not polled yet.
    new: Vec<BackgroundCall>,
    /// Wakes the call that polls them.
    waker: Option<Waker>,
}

impl BackgroundCalls {
    /// Starts a call; returns false, and drops it, if the call that starts it does not run.
    pub(crate) fn start(&self, call: BackgroundCall) -> bool {
        let mut state = self.lock();
        if !state.is_open {
            return false;
        }
        state.new.push(call);
        let waker = state.waker.clone();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Stores what wakes the call, and returns the new calls.
    fn take_new(&self, waker: &Waker) -> Vec<BackgroundCall> {
        let mut state = self.lock();
        if !state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            state.waker = Some(waker.clone());
        }
        std::mem::take(&mut state.new)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().ignore_poison()
    }
}

impl fmt::Debug for BackgroundCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundCalls").field("is_open", &self.lock().is_open).finish_non_exhaustive()
    }
}

/// Waits for `body`, and polls the calls that it starts in the background. Once it has succeeded, waits for those that are left; if it
/// fails, they are dropped. `calls` is `None` if it can start none.
pub(crate) async fn joined<T, E>(
    calls: Option<&BackgroundCalls>,
    mut body: Pin<&mut impl Future<Output = Result<T, E>>>,
) -> Result<T, E> {
    let Some(calls) = calls else { return body.await };
    let mut open = OpenCalls::new(calls);
    let result = poll_fn(|cx| {
        let polled = body.as_mut().poll(cx);
        if polled.is_pending() {
            open.poll(cx);
        }
        polled
    });
    let result = result.await?;
    poll_fn(|cx| if open.poll(cx) { Poll::Ready(()) } else { Poll::Pending }).await;
    Ok(result)
}

/// The calls in the background of a call that runs. When this is dropped, they are dropped.
struct OpenCalls<'a> {
    calls: &'a BackgroundCalls,
    /// Allocated with the first call.
    running: Option<Box<FuturesUnordered<BackgroundCall>>>,
}

impl<'a> OpenCalls<'a> {
    fn new(calls: &'a BackgroundCalls) -> Self {
        calls.lock().is_open = true;
        Self { calls, running: None }
    }

    /// Polls the calls; returns whether none is left.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let new = self.calls.take_new(cx.waker());
        if !new.is_empty() {
            self.running.get_or_insert_default().extend(new);
        }
        let Some(running) = &mut self.running else { return true };
        loop {
            match running.poll_next_unpin(cx) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) => return true,
                Poll::Pending => return false,
            }
        }
    }
}

impl Drop for OpenCalls<'_> {
    fn drop(&mut self) {
        let mut state = self.calls.lock();
        state.is_open = false;
        let new = std::mem::take(&mut state.new);
        drop(state);
        drop(new);
    }
}

/// What is known of a call in the background, in its frame.
#[derive(Debug)]
pub(crate) struct InBackground {
    /// Its 1-based number among those of its caller's model; `None` if code made it.
    pub(crate) number: Option<u32>,
    /// Cancelled once it is admitted.
    pub(crate) started: CancellationToken,
    /// What its caller will have read once it gets the result.
    readings: LazyMutex<Vec<Arc<Reading>>>,
    /// The answers of the user that its caller's conversation will have then.
    user_messages: LazyMutex<Vec<String>>,
}

impl InBackground {
    pub(crate) fn new(number: Option<u32>) -> Self {
        let (readings, user_messages) = (LazyMutex::default(), LazyMutex::default());
        Self { number, started: CancellationToken::new(), readings, user_messages }
    }

    pub(crate) fn is_of_model(&self) -> bool {
        self.number.is_some()
    }

    pub(crate) fn add_reading(&self, reading: Arc<Reading>) {
        self.readings.get_or_default().push(reading);
    }

    pub(crate) fn add_user_message(&self, message: &str) {
        self.user_messages.get_or_default().push(message.to_owned());
    }

    /// Removes and returns what its caller reads with the result.
    pub(crate) fn take_readings(&self) -> Vec<Arc<Reading>> {
        self.readings.get().map(|mut readings| std::mem::take(&mut *readings)).unwrap_or_default()
    }

    /// Removes and returns the answers of the user that came during the call.
    pub(crate) fn take_user_messages(&self) -> Vec<String> {
        self.user_messages.get().map(|mut messages| std::mem::take(&mut *messages)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn counting(ended: &Arc<AtomicU32>) -> BackgroundCall {
        let ended = Arc::clone(ended);
        Box::pin(async move {
            tokio::task::yield_now().await;
            ended.fetch_add(1, Ordering::Relaxed);
        })
    }

    #[tokio::test]
    async fn a_body_that_succeeds_waits_for_its_calls() {
        let (calls, ended) = (BackgroundCalls::default(), Arc::default());
        assert!(!calls.start(counting(&ended)), "the call does not run yet");
        let body = pin!(async {
            assert!(calls.start(counting(&ended)) && calls.start(counting(&ended)));
            Ok::<_, ()>(7)
        });
        assert_eq!(joined(Some(&calls), body).await, Ok(7));
        assert_eq!(ended.load(Ordering::Relaxed), 2);
        assert!(!calls.start(counting(&ended)), "the call has ended");
    }

    #[tokio::test]
    async fn a_body_that_fails_drops_its_calls() {
        let (calls, ended) = (BackgroundCalls::default(), Arc::default());
        let body = pin!(async {
            assert!(calls.start(counting(&ended)));
            Err::<(), _>("no")
        });
        assert_eq!(joined(Some(&calls), body).await, Err("no"));
        assert_eq!(ended.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn calls_that_another_task_starts_are_polled() {
        let (calls, ended) = (Arc::new(BackgroundCalls::default()), Arc::default());
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (other, count) = (Arc::clone(&calls), Arc::clone(&ended));
        let body = pin!(async move {
            let other = tokio::spawn(async move {
                tokio::task::yield_now().await;
                let call = counting(&count);
                other.start(Box::pin(async move {
                    call.await;
                    sender.send(()).unwrap();
                }))
            });
            receiver.await.unwrap();
            Ok::<_, ()>(other.await.unwrap())
        });
        assert_eq!(joined(Some(&calls), body).await, Ok(true));
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    }
}
