//! The state that the handles of a run share: its records, and its claim on the file.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Transaction;
use serde_json::{Value, json};

use super::super::replay::Replay;
use super::super::shared::SharedReplay;
use super::super::{JournalError, JournalOutcome, LocalOutcome, Record, StepFuture, StepKind, StepSpec};
use super::head::RecordHead;
use super::in_flight::{Activity, InFlight};
use super::lease::Fence;
use super::promises::{self, Dropped};
use super::read;
use super::tables::{self, RecordRow, Written};
use super::{SqliteJournal, later};
use crate::base::error::{BoxError, chain};
use crate::base::mutex::IgnorePoison;
use crate::observe::database::DatabaseError;

/// The part of a sleep's key that precedes the record of its end.
const WAKE: &str = "wake";

/// An open run, which its handles share.
pub(super) struct OpenRun {
    pub(super) journal: SqliteJournal,
    pub(super) id: Arc<str>,
    pub(super) fence: Fence,
    /// The duration of a claim; `None`: the run is claimed until any process claims it.
    pub(super) time: Option<Duration>,
    /// When the claim ends, as far as this process knows; in milliseconds since 1970.
    pub(super) until: AtomicI64,
    pub(super) records: Arc<Records>,
    /// Whether all records but the result were deleted.
    pub(super) is_reduced: bool,
    /// Whether the file could not be read or written at any time.
    pub(super) has_file_failed: AtomicBool,
    /// Why a promise could not be stored or read. The code then continues as if a person had denied the call, or as if
    /// the question had failed; that must not be recorded.
    pub(super) promise_failure: OnceLock<String>,
    pub(super) in_flight: InFlight,
    pub(super) dropped: Dropped,
}

/// The records of a run, shared with writes that may end after the run is dropped.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) replay: SharedReplay<RecordHead>,
    /// The keys of records that are being written, with the numbers of the records.
    uncommitted: Mutex<HashMap<Arc<str>, i64>>,
    /// The number of the last record.
    pub(super) last: AtomicI64,
    pub(super) is_taken_over: AtomicBool,
}

impl Records {
    /// Creates the list from the records in the file, the last of which has the number `last`.
    pub(super) fn new(replay: Replay<RecordHead>, last: i64) -> Self {
        Self {
            replay: SharedReplay::new(replay),
            uncommitted: Mutex::default(),
            last: last.into(),
            is_taken_over: AtomicBool::new(false),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Replay<RecordHead>> {
        self.replay.lock()
    }

    /// Adds a record in a transaction, unless its key is recorded.
    fn insert(&self, row: &RecordRow, transaction: &Transaction<'_>, fence: Fence) -> rusqlite::Result<Written> {
        let known = self.lock().get(row.key()).map(|head| head.record);
        let mut uncommitted = self.uncommitted.lock().ignore_poison();
        let written = row.insert(transaction, fence, known.or_else(|| uncommitted.get(row.key()).copied()))?;
        if let Written::New(record) = written {
            uncommitted.insert(Arc::clone(row.key()), record);
        }
        Ok(written)
    }

    /// Updates the list with the result of a write, as soon as it is committed.
    fn note(&self, head: RecordHead, written: Result<&Written, &DatabaseError>) {
        if !matches!(written, Ok(Written::Earlier(_))) {
            self.uncommitted.lock().ignore_poison().remove(&head.key);
        }
        match written {
            Ok(Written::New(record)) => {
                self.last.fetch_max(*record, Ordering::Relaxed);
                self.lock().add(RecordHead { record: *record, ..head });
            }
            Ok(Written::TakenOver) => self.is_taken_over.store(true, Ordering::Relaxed),
            Ok(Written::Earlier(_)) | Err(_) => {}
        }
    }
}

impl OpenRun {
    /// Replays a step, or runs and records it.
    pub(super) async fn perform(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if let Some(record) = self.records.replay.look_up(&step).await? {
            return self.value(record).await.map(JournalOutcome::Replayed);
        }
        self.check(&step)?;
        promises::withdraw_dropped(self);
        self.ensure_claim().await?;
        match local.await {
            LocalOutcome::Record(value) => self.record(Record::new(step, value)?).await.map(JournalOutcome::Recorded),
            LocalOutcome::Skip(unrecorded) => Ok(JournalOutcome::Unrecorded(unrecorded)),
        }
    }

    /// Reads the outcome of a record.
    pub(super) async fn value(&self, record: i64) -> Result<Value, JournalError> {
        let fence = self.fence;
        let text = self.journal.database.read(move |connection| read::value(connection, fence, record)).await;
        let text = text.map_err(|error| self.failed(error))?;
        self.parse(&text.ok_or_else(|| self.taken_over())?)
    }

    pub(super) fn parse(&self, text: &str) -> Result<Value, JournalError> {
        serde_json::from_str(text).map_err(|error| self.io(error))
    }

    /// Refuses an effect that could not be recorded, before it runs.
    fn check(&self, step: &StepSpec) -> Result<(), JournalError> {
        self.check_claim()?;
        self.check_promises()?;
        if self.is_reduced {
            let message = format!(
                "the run `{}` ended, and only its result is kept, so the step cannot be replayed; start a new run",
                self.id
            );
            return Err(JournalError::InvalidValue { step: step.to_string(), message });
        }
        Ok(())
    }

    pub(super) fn check_claim(&self) -> Result<(), JournalError> {
        if self.records.is_taken_over.load(Ordering::Relaxed) { Err(self.taken_over()) } else { Ok(()) }
    }

    /// Refuses steps after a promise that failed: the run ends, and asks again when it is resumed.
    pub(super) fn check_promises(&self) -> Result<(), JournalError> {
        let Some(cause) = self.promise_failure.get() else { return Ok(()) };
        Err(self.io(format!("an approval or a question could not be stored or read: {cause}")))
    }

    /// Renews a claim that has lapsed, before an effect runs that another process may run too.
    async fn ensure_claim(&self) -> Result<(), JournalError> {
        match self.time {
            Some(time) if self.journal.clock.now().as_millisecond() >= self.until.load(Ordering::Relaxed) => {
                self.renew(time).await
            }
            _ => Ok(()),
        }
    }

    pub(super) async fn renew(&self, time: Duration) -> Result<(), JournalError> {
        let (fence, until) = (self.fence, later(self.journal.clock.now(), time));
        let renewed = self.journal.database.write(move |transaction| fence.renew(transaction, until)).await;
        if !renewed.map_err(|error| self.failed(error))? {
            return Err(self.taken_over());
        }
        self.until.fetch_max(until.as_millisecond(), Ordering::Relaxed);
        Ok(())
    }

    /// Adds a record of a step that this process does not perform.
    pub(super) async fn append(&self, record: Record) -> Result<(), JournalError> {
        self.check_claim()?;
        self.ensure_claim().await?;
        self.record(record).await.map(drop)
    }

    /// Writes a record, and returns its outcome once it is synced.
    async fn record(&self, record: Record) -> Result<Value, JournalError> {
        // These steps do not ask persons, so an effect that was in flight when a promise failed need not be repeated.
        if !matches!(record.kind, StepKind::Model | StepKind::Tool) {
            self.check_promises()?;
        }
        let (row, value) = RecordRow::new(record).map_err(|error| self.io(error))?;
        let (head, records, fence, database) =
            (row.head(), Arc::clone(&self.records), self.fence, &self.journal.database);
        let is_whole = row.is_whole();
        let writing = Arc::clone(&records);
        // The row is returned to this thread, since freeing it on the writer thread would make both threads wait for
        // each other.
        let insert = move |transaction: &Transaction<'_>| Ok((writing.insert(&row, transaction, fence)?, row));
        // Once the record is in the file, this process must know it, even if the caller has been dropped.
        let note = move |written: &Result<(_, _), _>| records.note(head, written.as_ref().map(|(written, _)| written));
        let written = if is_whole {
            database.write_noting(insert, note).await
        } else {
            database.write_without_savepoint(insert, note).await
        };
        let (written, _row) = written.map_err(|error| self.failed(error))?;
        match written {
            Written::New(_) => Ok(value),
            Written::Earlier(text) => self.parse(&text),
            Written::TakenOver => Err(self.taken_over()),
        }
    }

    /// Waits until a recorded time, so that an interrupted wait continues.
    pub(super) async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        let clock = Arc::clone(&self.journal.clock);
        let is_over = self.records.lock().get(&step.key).is_some();
        let wake = if is_over { clock.now() } else { self.wake_time(&step, later(clock.now(), duration)).await? };
        let in_flight = self.in_flight.begin(&step, Activity::Wait);
        in_flight.wait_until(wake);
        let wait = async move {
            // Negative once the time has passed.
            let rest = Duration::try_from(wake.duration_since(clock.now())).unwrap_or_default();
            tokio::time::sleep(rest).await;
            LocalOutcome::Record(Value::Null)
        };
        self.perform(step, Box::pin(wait)).await.map(drop)
    }

    /// Returns the recorded time at which a wait ends, or records and returns `wake`.
    async fn wake_time(&self, sleep: &StepSpec, wake: Timestamp) -> Result<Timestamp, JournalError> {
        // If the run were dropped before the time is recorded, it would not know when to continue.
        let _in_flight = self.in_flight.begin(sleep, Activity::Work);
        let local = async move { LocalOutcome::Record(json!(wake)) };
        let wake = self.perform(sleep.within(StepKind::Sleep, WAKE), Box::pin(local)).await?.into_value();
        serde_json::from_value(wake.unwrap_or_default()).map_err(|error| JournalError::InvalidValue {
            step: sleep.to_string(),
            message: format!("the recorded end of the wait is not a timestamp: {error}"),
        })
    }

    pub(super) async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        if keys.is_empty() {
            return Ok(());
        }
        let (fence, records) = (self.fence, Arc::clone(&self.records));
        let forgotten: Vec<_> = {
            let replay = records.lock();
            keys.iter().filter_map(|key| Some((replay.get(key)?.record, Arc::clone(key)))).collect()
        };
        let forget = move |transaction: &Transaction<'_>| tables::forget(transaction, fence, &forgotten);
        let note = move |result: &Result<Option<i64>, _>| {
            if let Ok(Some(record)) = result {
                records.last.fetch_max(*record, Ordering::Relaxed);
                records.lock().forget(&keys);
            }
        };
        let forgotten = self.journal.database.write_noting(forget, note).await;
        let forgotten = forgotten.map_err(|error| self.failed(error))?;
        forgotten.map(drop).ok_or_else(|| self.taken_over())
    }

    /// Stores and returns the error that another process has the run.
    pub(super) fn taken_over(&self) -> JournalError {
        self.records.is_taken_over.store(true, Ordering::Relaxed);
        JournalError::TakenOver { run: self.id.to_string() }
    }

    /// Returns an error of the file, and stores that the file failed if a retry may succeed.
    pub(super) fn failed(&self, error: DatabaseError) -> JournalError {
        if !error.is_invalid_value() {
            self.has_file_failed.store(true, Ordering::Relaxed);
        }
        error.into()
    }

    /// Returns an error of a promise, and stores that the promise failed.
    pub(super) fn failed_promise(&self, error: DatabaseError) -> JournalError {
        self.note_failed_promise(&error);
        self.failed(error)
    }

    /// Stores that a promise failed, with the first cause.
    pub(super) fn note_failed_promise(&self, error: &(dyn Error + 'static)) {
        self.promise_failure.get_or_init(|| chain(error));
    }

    fn io(&self, error: impl Into<BoxError>) -> JournalError {
        JournalError::Io { path: self.journal.path().to_owned(), source: std::io::Error::other(error) }
    }
}
