//! The replay of a run in Restate: it continues as the log of the run grows, and its events are stored.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use llm_do_core::observe::journal::{Fence, FollowJournal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Shared;
use crate::ask::Absent;
use crate::recorder::Recorder;
use crate::restate::{Appended, End, LogReader, may_leave};
use crate::store::RunRow;

/// The maximum time of a run's code after its last record, before its replay is dropped.
const LONGEST_END: Duration = Duration::from_secs(15);

/// The maximum time that records stay unused while the log grows, before the replay restarts; code between two steps
/// takes time.
const LONGEST_LAG: Duration = Duration::from_secs(3);

/// A replay in this process, which waits for the records of steps instead of performing them.
pub(super) struct LiveReplay {
    journal: FollowJournal,
    log: LogReader,
    recorder: Arc<Recorder>,
    cancellation: CancellationToken,
    running: AbortOnDropHandle<()>,
    /// Whether all records came together, so that the replay knew the later records at each step.
    is_whole: bool,
    /// The number of records that a replay of the whole log did not use.
    unused: usize,
    /// Since when more records than those are unused, updated whenever the log has grown.
    behind_since: Option<Instant>,
    /// Whether a replay of the whole log ended before the run did, since the code differs.
    is_other_code: bool,
}

impl LiveReplay {
    /// Begins a replay without records.
    pub(super) fn start(shared: &Shared, run: &RunRow, id: &str, fence: Fence) -> Self {
        let runtime = shared.runtime.clone();
        let journal = FollowJournal::new(move |name| may_leave(&runtime, name));
        let dropped = shared.metrics.dropped_events.clone();
        let recorder = Recorder::start(shared.store.clone(), run.id.clone(), fence, true, dropped);
        let cancellation = CancellationToken::new();
        let start = shared.runtime.start_named(&run.entry, run.arguments.clone()).with_id(id).journal(journal.clone());
        let start = match run.source.label() {
            Some(label) => start.source(label),
            None => start,
        };
        let start = start.approver(Absent).input_handler(Absent).shared_sink(Arc::clone(&recorder) as _);
        let running = start.cancellation(cancellation.clone()).into_future();
        // The result in the log is used instead.
        let running = AbortOnDropHandle::new(tokio::spawn(async move { drop(running.await) }));
        Self {
            journal,
            log: LogReader::default(),
            recorder,
            cancellation,
            running,
            is_whole: true,
            unused: 0,
            behind_since: None,
            is_other_code: false,
        }
    }

    pub(super) fn log(&self) -> &LogReader {
        &self.log
    }

    pub(super) fn extend(&mut self, appended: &Appended) {
        self.log.read(appended, &self.journal);
    }

    /// Returns whether the replay missed records of the log, because a version of the code that the run does not have
    /// became visible only later. Called before the log is read again.
    pub(super) fn is_astray(&mut self) -> bool {
        let unused = self.journal.unused_records();
        if std::mem::take(&mut self.is_whole) {
            // Another replay would miss the same records.
            self.unused = unused;
            self.is_other_code = self.running.is_finished();
        }
        if self.is_other_code || unused <= self.unused {
            self.behind_since = None;
            return false;
        }
        self.behind_since.get_or_insert_with(Instant::now).elapsed() >= LONGEST_LAG
    }

    /// Lets the replay end like the run, and stores its events; returns whether another replay could find more.
    pub(super) async fn end(&mut self) -> bool {
        let ends_itself =
            matches!(self.log.outcome().map(|outcome| &outcome.end), Some(End::Result(_) | End::Error(_)));
        if !ends_itself {
            // The calls in flight end like those of the run.
            self.cancellation.cancel();
        }
        let has_ended = tokio::time::timeout(LONGEST_END, &mut self.running).await.is_ok();
        self.recorder.close();
        self.recorder.stored().await;
        self.is_whole || (has_ended && self.journal.unused_records() <= self.unused)
    }

    /// Stores the events so far, and drops the replay.
    pub(super) async fn stop(self) {
        self.recorder.close();
        self.recorder.stored().await;
    }
}

impl Drop for LiveReplay {
    /// Closes the recorder before the calls are dropped, since they do not end like this in the run.
    fn drop(&mut self) {
        self.recorder.close();
    }
}
