//! A queue in front of a sink, and the thread that delivers its events, so that a slow sink does not slow down runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::buffer::Buffer;
use super::flush::block_on;
use super::{Event, EventSink};
use crate::base::mutex::IgnorePoison;

/// The default number of events that may wait for a sink.
pub(crate) const CAPACITY: usize = 4096;

/// How long dropping a queue waits for its sink.
pub(super) const DROP_TIMEOUT: Duration = Duration::from_secs(2);

/// The number of handled events once nothing more will be delivered.
const CLOSED: u64 = u64::MAX;

/// Delivers events to a sink on a thread of its own, which is started by the first event.
///
/// Dropping it waits until the sink has processed the remaining events, at most 2 seconds.
pub(crate) struct Queue {
    sink: Arc<dyn EventSink>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Signalled when an event arrives or the queue closes.
    arrived: Condvar,
    handled: Handled,
}

/// How many events the sink has processed.
#[derive(Default)]
struct Handled {
    count: AtomicU64,
    changed: Notify,
}

struct State {
    buffer: Buffer,
    stage: Stage,
    /// Whether the thread is waiting for an event and must be woken.
    is_idle: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// The thread is not started yet.
    New,
    Running,
    /// The thread delivers the remaining events, then exits.
    Closing,
    /// The sink panicked, or its thread could not be started.
    Broken,
}

impl Queue {
    pub(crate) fn new(sink: Arc<dyn EventSink>, capacity: usize) -> Self {
        let state = State { buffer: Buffer::new(capacity), stage: Stage::New, is_idle: false };
        let shared = Shared { state: Mutex::new(state), arrived: Condvar::new(), handled: Handled::default() };
        Self { sink, shared: Arc::new(shared) }
    }

    /// Blocks until the sink has processed the events so far; returns whether it could.
    pub(super) fn wait(&self) -> bool {
        block_on(self.empty(), None);
        self.shared.lock().stage != Stage::Broken
    }

    async fn empty(&self) {
        let end = self.shared.lock().buffer.end_position();
        self.shared.handled.reach(end).await;
    }

    fn start(&self) -> Stage {
        let (sink, shared) = (Arc::clone(&self.sink), Arc::clone(&self.shared));
        let thread = thread::Builder::new().name(type_name(self.sink.name()).to_owned());
        if thread.spawn(move || shared.deliver(sink.as_ref())).is_ok() {
            return Stage::Running;
        }
        self.shared.handled.set(CLOSED);
        Stage::Broken
    }
}

#[async_trait]
impl EventSink for Queue {
    fn emit(&self, event: &Arc<Event>) {
        let mut state = self.shared.lock();
        if state.stage == Stage::New {
            state.stage = self.start();
        }
        if state.stage == Stage::Running && state.buffer.push(event) && std::mem::take(&mut state.is_idle) {
            drop(state);
            self.shared.arrived.notify_one();
        }
    }

    fn delivery(&self) -> super::Delivery {
        super::Delivery::Inline
    }

    async fn flush(&self) {
        self.empty().await;
        self.sink.flush().await;
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.stage != Stage::Running {
            return;
        }
        state.stage = Stage::Closing;
        drop(state);
        self.shared.arrived.notify_one();
        block_on(self.shared.handled.reach(CLOSED), Some(DROP_TIMEOUT));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    /// Delivers events until the queue is closed and empty; the body of the thread.
    fn deliver(&self, sink: &dyn EventSink) {
        while let Some(event) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| sink.emit(&event))).is_err() {
                let mut state = self.lock();
                state.stage = Stage::Broken;
                // Frees the events that can no longer be delivered.
                state.buffer = Buffer::new(1);
                break;
            }
            self.handled.set(self.handled.count.load(Ordering::Relaxed) + 1);
        }
        self.handled.set(CLOSED);
    }

    /// Waits for the next event; returns `None` once the queue is closed and empty.
    fn next(&self) -> Option<Arc<Event>> {
        let mut state = self.lock();
        loop {
            if let Some(event) = state.buffer.pop() {
                return Some(event);
            }
            if state.stage == Stage::Closing {
                return None;
            }
            state.is_idle = true;
            state = self.arrived.wait(state).ignore_poison();
        }
    }
}

impl Handled {
    /// Sets the count; only the thread of the sink does.
    fn set(&self, count: u64) {
        self.count.store(count, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// Waits until the count is at least `least`.
    async fn reach(&self, least: u64) {
        loop {
            // Before the count is read, so that no change in between is missed.
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

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Queue").field(&self.sink).finish()
    }
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
