//! A queue before a sink, and the thread that empties it: whatever the sink does, a run goes on.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

use super::buffer::Buffer;
use super::patience::block_on;
use super::{Event, EventSink};

/// How many events may wait for a sink, unless another number is said.
pub(crate) const CAPACITY: usize = 4096;

/// How long a queue that is dropped waits for its sink.
pub(super) const AT_THE_END: Duration = Duration::from_secs(2);

/// What [`Shared::handled`] says once nothing more will be handed over.
const ENDED: u64 = u64::MAX;

/// Hands events to a sink on a thread of its own, which begins with the first event.
///
/// Dropped, it waits until the sink has dealt with what is left, at most 2 seconds.
pub(crate) struct Queue {
    sink: Arc<dyn EventSink>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is an event to take, or there will be none any more.
    arrived: Condvar,
    /// How many events the sink has dealt with.
    handled: watch::Sender<u64>,
}

struct State {
    buffer: Buffer,
    stage: Stage,
    /// Whether the thread waits for an event, so that it has to be woken.
    is_idle: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    /// There is no thread yet.
    New,
    Running,
    /// What is left is handed over, then the thread ends.
    Closing,
    /// The sink panicked, or its thread could not begin.
    Broken,
}

impl Queue {
    pub(crate) fn new(sink: Arc<dyn EventSink>, capacity: usize) -> Self {
        let state = State { buffer: Buffer::new(capacity), stage: Stage::New, is_idle: false };
        let shared = Shared { state: Mutex::new(state), arrived: Condvar::new(), handled: watch::Sender::new(0) };
        Self { sink, shared: Arc::new(shared) }
    }

    /// Waits until the sink has dealt with what it was given, and keeps the thread that long; returns whether it has.
    pub(super) fn wait(&self) -> bool {
        block_on(self.empty(), None);
        self.shared.lock().stage != Stage::Broken
    }

    async fn empty(&self) {
        let mark = self.shared.lock().buffer.mark();
        // It fails only when the sender is gone, which is here.
        let _ = self.shared.handled.subscribe().wait_for(|handled| *handled >= mark).await;
    }

    fn start(&self) -> Stage {
        let (sink, shared) = (Arc::clone(&self.sink), Arc::clone(&self.shared));
        let thread = thread::Builder::new().name(short(self.sink.name()).to_owned());
        if thread.spawn(move || shared.hand_over(sink.as_ref())).is_ok() {
            return Stage::Running;
        }
        self.shared.handled.send_replace(ENDED);
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
        let mut handled = self.shared.handled.subscribe();
        block_on(async { drop(handled.wait_for(|handled| *handled == ENDED).await) }, Some(AT_THE_END));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over events until there are no more; what the thread does.
    fn hand_over(&self, sink: &dyn EventSink) {
        while let Some(event) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| sink.emit(&event))).is_err() {
                let mut state = self.lock();
                state.stage = Stage::Broken;
                // What nobody will take is not kept.
                state.buffer = Buffer::new(1);
                break;
            }
            self.handled.send_modify(|handled| *handled += 1);
        }
        self.handled.send_replace(ENDED);
    }

    /// Waits for the next event; none once the queue is closed and empty.
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
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Returns the last word of a type's path: what fits the name of a thread.
fn short(name: &str) -> &str {
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
    use super::short;

    #[test]
    fn a_thread_has_the_name_of_the_type_of_its_sink() {
        assert_eq!(short("app::log::Slow"), "Slow");
        assert_eq!(short("app::Callback<app::main::{{closure}}>"), "Callback");
        assert_eq!(short("Slow"), "Slow");
    }
}
