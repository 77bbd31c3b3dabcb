//! The sinks of single runs: open while their run goes on, kept until they have handled all events that they took.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use tokio::runtime::Handle;

use super::patience::block_on;
use super::queue::AT_THE_END;
use super::{Event, EventSink};

type Sink = Arc<dyn EventSink>;

/// The sinks that one run has besides those of its runtime.
#[derive(Debug, Default)]
pub(crate) struct RunSinks {
    sinks: Mutex<Vec<Sink>>,
    /// Whether there are any: asked for each event, also of runs that have none.
    is_open: AtomicBool,
}

impl RunSinks {
    pub(crate) fn new(sinks: Vec<Sink>) -> Self {
        let is_open = AtomicBool::new(!sinks.is_empty());
        Self { sinks: Mutex::new(sinks), is_open }
    }

    /// Returns whether an event would reach a sink.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Reports an event, unless the run has ended.
    pub(crate) fn emit(&self, event: &Arc<Event>) {
        if self.is_open() {
            lock(&self.sinks).iter().for_each(|sink| sink.emit(event));
        }
    }

    /// Returns the sinks.
    pub(crate) fn sinks(&self) -> Vec<Sink> {
        lock(&self.sinks).clone()
    }

    /// Takes no more events, and returns the sinks.
    pub(crate) fn close(&self) -> Vec<Sink> {
        self.is_open.store(false, Ordering::Relaxed);
        std::mem::take(&mut lock(&self.sinks))
    }
}

/// The sinks of all runs that go on, and of those that have ended and whose sinks are still busy.
///
/// Dropped, it waits for them, at most 2 seconds for each.
#[derive(Debug, Default)]
pub(crate) struct SinksOfRuns(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    sink: Sink,
    has_ended: bool,
}

impl SinksOfRuns {
    /// Keeps the sinks of a run that begins.
    pub(crate) fn add(&self, sinks: &[Sink]) {
        lock(&self.0).extend(sinks.iter().map(|sink| Kept { sink: Arc::clone(sink), has_ended: false }));
    }

    /// Returns all sinks.
    pub(crate) fn all(&self) -> Vec<Sink> {
        lock(&self.0).iter().map(|kept| Arc::clone(&kept.sink)).collect()
    }

    /// Drops the sinks of a run that has ended: at once if they have handled all that they took, or else once they have.
    pub(crate) fn release(self: &Arc<Self>, sinks: Vec<Sink>) {
        if sinks.is_empty() {
            return;
        }
        self.end(&sinks);
        // The last clone of a busy sink waits for it when it is dropped: that one is kept here, so that no run waits.
        drop(sinks);
        let busy = self.drop_idle();
        // Another executor has no tasks to spawn: the next run that ends looks again.
        let Ok(tokio) = Handle::try_current() else { return };
        for sink in busy {
            let keeper = Arc::downgrade(self);
            tokio.spawn(async move {
                sink.flush().await;
                drop(sink);
                if let Some(keeper) = keeper.upgrade() {
                    keeper.drop_idle();
                }
            });
        }
    }

    fn end(&self, sinks: &[Sink]) {
        let mut kept = lock(&self.0);
        for sink in sinks {
            // Several runs may have the same sink: one entry for each.
            if let Some(kept) = kept.iter_mut().find(|kept| !kept.has_ended && Arc::ptr_eq(&kept.sink, sink)) {
                kept.has_ended = true;
            }
        }
    }

    /// Drops the idle sinks of ended runs, and returns the busy ones.
    fn drop_idle(&self) -> Vec<Sink> {
        let ended = lock(&self.0).iter().filter(|kept| kept.has_ended).map(|kept| Arc::clone(&kept.sink)).collect();
        // Without the lock: this is code of the sink's author.
        let (idle, busy): (Vec<_>, Vec<_>) = Vec::into_iter(ended).partition(is_idle);
        let is_idle = |kept: &Kept| kept.has_ended && idle.iter().any(|idle| Arc::ptr_eq(idle, &kept.sink));
        lock(&self.0).retain(|kept| !is_idle(kept));
        busy
    }
}

impl Drop for SinksOfRuns {
    fn drop(&mut self) {
        for Kept { sink, .. } in self.0.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A queue of which this is the last clone waits by itself.
            if Arc::strong_count(&sink) > 1 {
                block_on(sink.flush(), Some(AT_THE_END));
            }
        }
    }
}

/// Returns whether a sink has handled all events that it took; one that panics will handle no more.
fn is_idle(sink: &Sink) -> bool {
    catch_unwind(AssertUnwindSafe(|| sink.flush().now_or_never().is_some())).unwrap_or(true)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
