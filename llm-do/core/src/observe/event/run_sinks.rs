//! The sinks of single runs, which receive events until their run finishes, and are kept until they have processed all
//! of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use tokio::runtime::Handle;

use super::background::DROP_TIMEOUT;
use super::flush::block_on;
use super::{Event, EventSink};
use crate::base::mutex::IgnorePoison;

type Sink = Arc<dyn EventSink>;

/// The sinks of one run, in addition to those of its runtime.
#[derive(Debug, Default)]
pub(crate) struct RunSinks {
    sinks: Mutex<Vec<Sink>>,
    /// Whether there are sinks; read for each event of every run.
    is_open: AtomicBool,
}

impl RunSinks {
    pub(crate) fn new(sinks: Vec<Sink>) -> Self {
        let is_open = AtomicBool::new(!sinks.is_empty());
        Self { sinks: Mutex::new(sinks), is_open }
    }

    /// Returns whether there is a sink to receive events.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Passes an event to the sinks, unless they are closed.
    #[inline]
    pub(crate) fn emit(&self, event: &Arc<Event>) {
        if self.is_open() {
            self.sinks.lock().ignore_poison().iter().for_each(|sink| sink.emit(event));
        }
    }

    /// Returns the sinks.
    pub(crate) fn sinks(&self) -> Vec<Sink> {
        self.sinks.lock().ignore_poison().clone()
    }

    /// Closes to further events, and returns the sinks.
    pub(crate) fn close(&self) -> Vec<Sink> {
        self.is_open.store(false, Ordering::Relaxed);
        std::mem::take(&mut self.sinks.lock().ignore_poison())
    }
}

/// The sinks of all active runs, and of finished runs whose sinks are still busy.
///
/// Dropping it waits for them, at most 2 seconds for each.
#[derive(Debug, Default)]
pub(crate) struct ActiveRunSinks(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    sink: Sink,
    is_released: bool,
}

impl ActiveRunSinks {
    /// Adds the sinks of a run that starts.
    pub(crate) fn add(&self, sinks: &[Sink]) {
        let entry = |sink: &Sink| Entry { sink: Arc::clone(sink), is_released: false };
        self.0.lock().ignore_poison().extend(sinks.iter().map(entry));
    }

    /// Returns all sinks.
    pub(crate) fn all(&self) -> Vec<Sink> {
        self.0.lock().ignore_poison().iter().map(|entry| Arc::clone(&entry.sink)).collect()
    }

    /// Drops the sinks of a finished run, each once it has processed its events.
    pub(crate) fn release(self: &Arc<Self>, sinks: Vec<Sink>) {
        if sinks.is_empty() {
            return;
        }
        self.mark_released(&sinks);
        // Dropping the last clone of a busy sink blocks: the entry here keeps a clone, so that the run does not block.
        drop(sinks);
        let busy = self.drop_idle();
        // Outside tokio no task can be spawned, so the next run that finishes checks again.
        let Ok(tokio) = Handle::try_current() else { return };
        for sink in busy {
            let sinks = Arc::downgrade(self);
            tokio.spawn(async move {
                sink.flush().await;
                if let Some(sinks) = sinks.upgrade() {
                    sinks.drop_flushed(&sink);
                }
            });
        }
    }

    fn mark_released(&self, sinks: &[Sink]) {
        let mut entries = self.0.lock().ignore_poison();
        for sink in sinks {
            // Several runs may share a sink: there is an entry for each.
            if let Some(entry) = entries.iter_mut().find(|entry| !entry.is_released && Arc::ptr_eq(&entry.sink, sink)) {
                entry.is_released = true;
            }
        }
    }

    /// Drops a released sink that was flushed, even if it does not look idle: each flush may take a moment.
    fn drop_flushed(&self, sink: &Sink) {
        self.0.lock().ignore_poison().retain(|entry| !(entry.is_released && Arc::ptr_eq(&entry.sink, sink)));
    }

    /// Drops the released sinks that are idle, and returns those that are busy.
    fn drop_idle(&self) -> Vec<Sink> {
        let entries = self.0.lock().ignore_poison();
        let released = entries.iter().filter(|entry| entry.is_released).map(|entry| Arc::clone(&entry.sink)).collect();
        drop(entries);
        // `is_idle` calls `flush`, which is user code, so the lock is released.
        let (idle, busy): (Vec<_>, Vec<_>) = Vec::into_iter(released).partition(is_idle);
        let is_idle = |entry: &Entry| entry.is_released && idle.iter().any(|idle| Arc::ptr_eq(idle, &entry.sink));
        self.0.lock().ignore_poison().retain(|entry| !is_idle(entry));
        busy
    }
}

impl Drop for ActiveRunSinks {
    fn drop(&mut self) {
        for Entry { sink, .. } in self.0.get_mut().ignore_poison().drain(..) {
            // If this is the last clone, dropping its queue waits.
            if Arc::strong_count(&sink) > 1 {
                block_on(sink.flush(), Some(DROP_TIMEOUT));
            }
        }
    }
}

/// Returns whether a sink has processed all its events. A sink that panics counts as idle, since it will process no
/// more.
fn is_idle(sink: &Sink) -> bool {
    catch_unwind(AssertUnwindSafe(|| sink.flush().now_or_never().is_some())).unwrap_or(true)
}
