//! A thread that handles what events add to a buffer, so that slow sinks do not slow down runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use tokio::sync::Notify;

use super::Event;
use super::flush::block_on;
use crate::base::mutex::IgnorePoison;

/// How long dropping a [`Background`] waits for its thread.
pub(super) const DROP_TIMEOUT: Duration = Duration::from_secs(2);

/// The position of handled events after which no event will be handled.
const CLOSED: u64 = u64::MAX;

/// The events that wait for the thread.
pub(super) trait Pending: Send + 'static {
    /// The events that the thread handles without holding the lock.
    type Batch: Default;

    /// How long the thread collects events after it has handled a batch, since waking it for each event slows down the
    /// run.
    const COLLECTING: Duration;

    /// Adds an event; returns whether it was added, and not dropped.
    fn push(&mut self, event: &Arc<Event>) -> bool;

    /// Moves the next events into `batch`, which is reused; returns their number.
    fn take(&mut self, batch: &mut Self::Batch) -> u64;

    fn is_empty(&self) -> bool;

    /// Returns whether the thread should collect more events before it takes a batch.
    fn may_collect(&self) -> bool;

    /// Returns whether the thread must be woken before the buffer is full and drops events.
    fn is_half_full(&self) -> bool;

    /// Returns the number of events that will have been taken once all received so far are.
    fn end_position(&self) -> u64;

    /// Removes all events without handling them.
    fn clear(&mut self);
}

/// Handles pending events on a thread, which is started by the first event.
///
/// Dropping it waits until the remaining events are handled, at most 2 seconds.
pub(super) struct Background<P: Pending> {
    name: &'static str,
    handle: Handle<P>,
    shared: Arc<SharedBackground<P>>,
}

type Handle<P> = Arc<dyn Fn(&mut <P as Pending>::Batch) + Send + Sync>;

struct SharedBackground<P> {
    state: Mutex<BackgroundState<P>>,
    /// Signalled when the thread must wake up.
    woken: Condvar,
    handled: Handled,
}

/// The number of events that the thread has handled.
#[derive(Default)]
struct Handled {
    count: AtomicU64,
    changed: Notify,
}

struct BackgroundState<P> {
    pending: P,
    stage: Stage,
    waits_for: WaitsFor,
    /// Whether a caller waits for the events, so that the thread handles them without collecting more.
    is_flushed: bool,
}

/// What the thread waits for, if anything.
#[derive(Clone, Copy, PartialEq)]
enum WaitsFor {
    /// The thread is awake.
    Nothing,
    /// The end of the collecting time, or a half full buffer.
    Events,
    /// The next event.
    Event,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The thread is not started yet.
    New,
    Running,
    /// The thread handles the remaining events, then exits.
    Closing,
    /// `handle` panicked, or the thread could not be started.
    Broken,
}

impl<P: Pending> Background<P> {
    /// Creates a background thread that calls `handle` with each batch; it is not started yet.
    pub(super) fn new(name: &'static str, pending: P, handle: impl Fn(&mut P::Batch) + Send + Sync + 'static) -> Self {
        let state = BackgroundState { pending, stage: Stage::New, waits_for: WaitsFor::Nothing, is_flushed: false };
        let shared = SharedBackground { state: Mutex::new(state), woken: Condvar::new(), handled: Handled::default() };
        Self { name, handle: Arc::new(handle), shared: Arc::new(shared) }
    }

    /// Adds an event.
    pub(super) fn push(&self, event: &Arc<Event>) {
        let mut state = self.shared.lock();
        if state.stage == Stage::New {
            state.stage = self.start();
        }
        let is_awaited = state.stage == Stage::Running
            && state.pending.push(event)
            && match state.waits_for {
                WaitsFor::Nothing => false,
                WaitsFor::Events => state.pending.is_half_full(),
                WaitsFor::Event => true,
            };
        if is_awaited {
            self.shared.wake(&mut state);
        }
    }

    /// Waits until the events so far are handled.
    pub(super) async fn empty(&self) {
        let end = {
            let mut state = self.shared.lock();
            if !state.pending.is_empty() {
                state.is_flushed = true;
                self.shared.wake(&mut state);
            }
            state.pending.end_position()
        };
        self.shared.handled.reach(end).await;
    }

    /// Blocks until the events so far are handled; returns whether they were.
    pub(super) fn wait(&self) -> bool {
        block_on(self.empty(), None);
        self.shared.lock().stage != Stage::Broken
    }

    fn start(&self) -> Stage {
        let (handle, shared) = (Arc::clone(&self.handle), Arc::clone(&self.shared));
        let thread = thread::Builder::new().name(type_name(self.name).to_owned());
        if thread.spawn(move || shared.run(&handle)).is_ok() {
            return Stage::Running;
        }
        self.shared.handled.set(CLOSED);
        Stage::Broken
    }
}

impl<P: Pending> Drop for Background<P> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.stage != Stage::Running {
            return;
        }
        state.stage = Stage::Closing;
        drop(state);
        self.shared.woken.notify_one();
        block_on(self.shared.handled.reach(CLOSED), Some(DROP_TIMEOUT));
    }
}

impl<P: Pending> SharedBackground<P> {
    fn lock(&self) -> MutexGuard<'_, BackgroundState<P>> {
        self.state.lock().ignore_poison()
    }

    /// Wakes the thread if it waits.
    fn wake(&self, state: &mut BackgroundState<P>) {
        if std::mem::replace(&mut state.waits_for, WaitsFor::Nothing) != WaitsFor::Nothing {
            self.woken.notify_one();
        }
    }

    /// Handles events until the queue is closed and empty; the body of the thread.
    fn run(&self, handle: &Handle<P>) {
        let mut batch = P::Batch::default();
        while let Some(count) = self.next(&mut batch) {
            if catch_unwind(AssertUnwindSafe(|| handle(&mut batch))).is_err() {
                let mut state = self.lock();
                state.stage = Stage::Broken;
                state.pending.clear();
                break;
            }
            self.handled.set(self.handled.count.load(Ordering::Relaxed) + count);
        }
        self.handled.set(CLOSED);
    }

    /// Waits for the next events, and returns their number; `None` once the queue is closed and empty.
    fn next(&self, batch: &mut P::Batch) -> Option<u64> {
        let mut state = self.lock();
        if state.pending.may_collect() && !state.is_flushed {
            state = self.wait_for(WaitsFor::Events, state);
        }
        while state.pending.is_empty() && state.stage == Stage::Running {
            state = self.wait_for(WaitsFor::Event, state);
        }
        (state.waits_for, state.is_flushed) = (WaitsFor::Nothing, false);
        Some(state.pending.take(batch)).filter(|count| *count > 0)
    }

    fn wait_for<'a>(
        &self,
        what: WaitsFor,
        mut state: MutexGuard<'a, BackgroundState<P>>,
    ) -> MutexGuard<'a, BackgroundState<P>> {
        state.waits_for = what;
        let waits =
            |state: &mut BackgroundState<P>| state.waits_for != WaitsFor::Nothing && state.stage == Stage::Running;
        match what {
            WaitsFor::Events => self.woken.wait_timeout_while(state, P::COLLECTING, waits).ignore_poison().0,
            _ => self.woken.wait_while(state, waits).ignore_poison(),
        }
    }
}

impl Handled {
    /// Sets the count; only the thread calls this.
    fn set(&self, count: u64) {
        self.count.store(count, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// Waits until the count is at least `least`.
    async fn reach(&self, least: u64) {
        loop {
            // Registered before the count is read, so that no change in between is missed.
            let changed = self.changed.notified();
            if self.count.load(Ordering::Acquire) >= least {
                return;
            }
            changed.await;
        }
    }
}

/// Returns the last segment of a type's path, without generics: short enough for a thread name.
fn type_name(name: &str) -> &str {
    let path = name.split('<').next().unwrap_or(name);
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::type_name;

    #[test]
    fn a_thread_is_named_after_the_type_of_its_sink() {
        assert_eq!(type_name("app::log::Slow"), "Slow");
        assert_eq!(type_name("app::Callback<app::main::{{closure}}>"), "Callback");
        assert_eq!(type_name("Slow"), "Slow");
    }
}
