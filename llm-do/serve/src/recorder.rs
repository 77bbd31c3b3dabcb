//! Stores the events of a run, several at a time.

mod earlier;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::event::{Delivery, Event, EventKind, EventSink};
use llm_do_core::observe::journal::Fence;
use llm_do_core::session::runtime::RunHandle;
use prometheus_client::metrics::counter::Counter;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use self::earlier::EarlierAttempts;
use super::store::Store;

/// The maximum number of events that wait to be written, such as while the file is busy; further ones are dropped.
const CAPACITY: usize = 10_000;
/// The maximum number of events that are written together.
const BATCH: usize = 256;

/// The run whose usage is stored, while it runs.
type FollowedRun = Arc<Mutex<Option<RunHandle>>>;

/// A sink that stores the events of one run.
#[derive(Debug)]
pub(super) struct Recorder {
    entries: mpsc::Sender<Entry>,
    is_closed: AtomicBool,
    /// The run whose usage is stored with its events, so that a killed process leaves it up to date.
    run: FollowedRun,
    /// Counts the events that did not fit.
    dropped: Counter,
}

#[derive(Debug)]
enum Entry {
    Event(Arc<Event>),
    /// Confirmed once everything before it is written.
    Flush(oneshot::Sender<()>),
}

impl Recorder {
    /// Returns a sink, and starts the task that writes; it ends once the sink is dropped.
    pub(super) fn start(store: Store, run: String, fence: Fence, is_resumed: bool, dropped: Counter) -> Arc<Self> {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let followed = FollowedRun::default();
        tokio::spawn(write(store, (run, fence), is_resumed, receiver, Arc::clone(&followed)));
        Arc::new(Self { entries: sender, is_closed: AtomicBool::new(false), run: followed, dropped })
    }

    /// Stores the usage of the run with its events. Reset it with `None`, since the contexts of the run have the sink.
    pub(super) fn follow(&self, run: Option<RunHandle>) {
        *self.run.lock().ignore_poison() = run;
    }

    /// Returns once all events so far are stored. This is not the flush of a sink, for which a run waits before it
    /// ends: the engine waits here, and handles a slow file.
    pub(super) async fn stored(&self) {
        let (written, done) = oneshot::channel();
        if self.entries.send(Entry::Flush(written)).await.is_ok() {
            let _ = done.await;
        }
    }

    /// Ignores further events, which come from calls that are dropped because their run is suspended.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }
}

async fn write(
    store: Store,
    (run, fence): (String, Fence),
    is_resumed: bool,
    mut receiver: mpsc::Receiver<Entry>,
    followed: FollowedRun,
) {
    // Errors are ignored here and below: the events are only for people who watch. The journal, on which the run
    // depends, reports a file that cannot be read or written.
    let mut earlier = if is_resumed { EarlierAttempts::load(&store, &run).await.ok() } else { None };
    let mut entries = Vec::with_capacity(BATCH);
    while receiver.recv_many(&mut entries, BATCH).await > 0 {
        let (mut events, mut flushed, mut reported) = (Vec::new(), Vec::new(), None);
        for entry in entries.drain(..) {
            match entry {
                Entry::Event(event) => {
                    reported = usage_of_run(&event).or(reported);
                    events.extend(match &mut earlier {
                        Some(earlier) => earlier.new_event(&event),
                        None => serde_json::to_string(&*event).ok(),
                    });
                }
                Entry::Flush(written) => flushed.push(written),
            }
        }
        if !events.is_empty() {
            let usage = followed.lock().ignore_poison().as_ref().map(RunHandle::usage).or(reported);
            let _ = store.add_events(&run, fence, events, usage).await;
        }
        for written in flushed {
            let _ = written.send(());
        }
    }
}

/// Returns the usage of the whole run, if the event reports it.
fn usage_of_run(event: &Event) -> Option<RunUsage> {
    match &event.kind {
        EventKind::Usage { used } if event.parent.is_none() => Some(*used),
        _ => None,
    }
}

impl EventSink for Recorder {
    fn emit(&self, event: &Arc<Event>) {
        // Pieces of an answer are only displayed while it arrives; the whole answer is a separate event.
        if !matches!(event.kind, EventKind::ModelDelta { .. }) && !self.is_closed.load(Ordering::Relaxed) {
            // The run does not wait for watchers.
            if let Err(TrySendError::Full(_)) = self.entries.try_send(Entry::Event(Arc::clone(event))) {
                self.dropped.inc();
            }
        }
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}
