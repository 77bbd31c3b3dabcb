//! One run in a file of many.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction};
use serde_json::{Value, json};

use super::super::replay::Replay;
use super::super::shared::SharedReplay;
use super::super::{Journal, JournalError, Promise, PromiseSpec, Record, StepFuture, StepKind, StepSpec};
use super::head::RecordHead;
use super::in_flight::{Activity, InFlight};
use super::lease::Fence;
use super::promises::{self, Dropped};
use super::tables::{self, RecordRow, Written};
use super::{SqliteJournal, later};
use crate::base::error::BoxError;
use crate::base::mutex::IgnorePoison;
use crate::observe::database::DatabaseError;

/// The part of a sleep's key that precedes the record of when it ends.
const WAKE: &str = "wake";

/// One run of a [`SqliteJournal`]: the journal of that run.
///
/// Clones share it. Dropping the last one frees the memory of the run, which [`SqliteJournal::run`] opens again.
///
/// A wait is recorded when it begins: if it is interrupted, only the rest of it is waited for when the run is resumed.
#[derive(Clone)]
pub struct SqliteRun(pub(super) Arc<OpenRun>);

pub(super) struct OpenRun {
    pub(super) journal: SqliteJournal,
    id: Arc<str>,
    pub(super) fence: Fence,
    /// How long the run is claimed at a time; `None`: until any process claims it.
    time: Option<Duration>,
    /// Until when other processes leave the run to this one, as far as it knows; in milliseconds since 1970.
    until: AtomicI64,
    /// Shared with writes that may end after the run is dropped.
    records: Arc<Records>,
    /// Whether all records but the result were deleted.
    is_reduced: bool,
    /// Whether the file could not be read or written at some time.
    has_file_failed: AtomicBool,
    pub(super) in_flight: InFlight,
    pub(super) dropped: Dropped,
}

#[derive(Debug)]
struct Records {
    replay: SharedReplay<RecordHead>,
    /// The keys that are being written, with the numbers of their records.
    uncommitted: Mutex<HashMap<Arc<str>, i64>>,
    /// The number of the last record.
    last: AtomicI64,
    is_taken_over: AtomicBool,
}

impl Records {
    fn lock(&self) -> MutexGuard<'_, Replay<RecordHead>> {
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

    /// Notes what became of a record, as soon as it is committed.
    fn note(&self, head: RecordHead, written: &Result<Written, DatabaseError>) {
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

impl SqliteRun {
    /// Loads a run that was claimed.
    pub(super) async fn load(
        journal: SqliteJournal,
        id: Arc<str>,
        fence: Fence,
        time: Option<Duration>,
    ) -> Result<Self, JournalError> {
        let until = time.map_or(Timestamp::MAX, |time| later(journal.clock.now(), time));
        let load = move |connection: &Connection| {
            let sql = "SELECT reduced FROM journal_runs WHERE run = ?1";
            let reduced = connection.query_row(sql, [fence.run], |row| row.get(0)).optional()?;
            Ok((reduced, tables::load(connection, fence.run)?))
        };
        let (reduced, (replay, last)) = journal.database.read(load).await?;
        let Some(is_reduced) = reduced else { return Err(JournalError::TakenOver { run: id.to_string() }) };
        let records = Records {
            replay: SharedReplay::new(replay),
            uncommitted: Mutex::default(),
            last: last.into(),
            is_taken_over: AtomicBool::new(false),
        };
        Ok(Self(Arc::new(OpenRun {
            journal,
            id,
            fence,
            time,
            until: AtomicI64::new(until.as_millisecond()),
            records: Arc::new(records),
            is_reduced,
            has_file_failed: AtomicBool::new(false),
            in_flight: InFlight::default(),
            dropped: Dropped::default(),
        })))
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the right to write to the run, in other tables of the file too.
    pub(crate) fn fence(&self) -> Fence {
        self.0.fence
    }

    /// Returns the number of recorded effects; right after the run is opened, the number that it can replay.
    #[must_use]
    pub fn recorded(&self) -> usize {
        self.0.records.lock().records().count()
    }

    /// Returns the number of the last record in the file; 0 without a record.
    pub(crate) fn last_record(&self) -> i64 {
        self.0.records.last.load(Ordering::Relaxed)
    }

    /// Returns whether the file could not be read or written at some time: what failed with it may work later.
    pub(crate) fn has_file_failed(&self) -> bool {
        self.0.has_file_failed.load(Ordering::Relaxed)
    }

    /// Extends the claim by `time` from now; see [`SqliteJournal::claim`].
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::TakenOver`] if another process has the run, and [`JournalError::Io`] if the file cannot be
    /// written.
    pub async fn renew(&self, time: Duration) -> Result<(), JournalError> {
        self.0.renew(time).await
    }

    /// Ends the claim: nothing more is recorded here, and any process may claim the run.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be written.
    pub async fn release(&self) -> Result<(), JournalError> {
        let OpenRun { fence, journal, records, .. } = &*self.0;
        records.is_taken_over.store(true, Ordering::Relaxed);
        let fence = *fence;
        Ok(journal.database.write(move |transaction| fence.release(transaction)).await?)
    }

    /// Waits until the run has only waited for `quiet`, for decisions, answers or times; returns the first such time.
    ///
    /// Then the run can be dropped: nothing is in flight that would have to run again. Code between two steps is not seen,
    /// so `quiet` must be longer than that takes.
    pub(crate) async fn only_waits(&self, quiet: Duration) -> Option<Timestamp> {
        self.0.in_flight.only_waits(quiet).await
    }
}

impl OpenRun {
    /// Replays a step, or runs and records it.
    async fn perform(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        if let Some(record) = self.records.replay.look_up(&step).await? {
            return self.value(record).await;
        }
        self.check(&step)?;
        promises::withdraw_dropped(self);
        self.ensure_claim().await?;
        self.record(Record::new(step, local.await?)?).await
    }

    /// Reads the outcome of a record.
    async fn value(&self, record: i64) -> Result<Value, JournalError> {
        let text = self.journal.database.read(move |connection| tables::value(connection, record)).await;
        let text = text.map_err(|error| self.failed(error))?;
        self.parse(&text)
    }

    pub(super) fn parse(&self, text: &str) -> Result<Value, JournalError> {
        serde_json::from_str(text).map_err(|error| self.io(error))
    }

    /// Refuses an effect that could not be recorded, before it runs.
    fn check(&self, step: &StepSpec) -> Result<(), JournalError> {
        self.check_claim()?;
        if self.is_reduced {
            let message = format!(
                "the run `{}` ended, and only its result is kept, so the step cannot be replayed; start a new run",
                self.id
            );
            return Err(JournalError::InvalidValue { step: step.to_string(), message });
        }
        Ok(())
    }

    fn check_claim(&self) -> Result<(), JournalError> {
        if self.records.is_taken_over.load(Ordering::Relaxed) { Err(self.taken_over()) } else { Ok(()) }
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

    async fn renew(&self, time: Duration) -> Result<(), JournalError> {
        let (fence, until) = (self.fence, later(self.journal.clock.now(), time));
        let renewed = self.journal.database.write(move |transaction| fence.renew(transaction, until)).await;
        if !renewed.map_err(|error| self.failed(error))? {
            self.records.is_taken_over.store(true, Ordering::Relaxed);
            return Err(self.taken_over());
        }
        self.until.fetch_max(until.as_millisecond(), Ordering::Relaxed);
        Ok(())
    }

    /// Writes a record, and returns its outcome once it is synced.
    async fn record(&self, record: Record) -> Result<Value, JournalError> {
        let (row, value) = RecordRow::new(record).map_err(|error| self.io(error))?;
        let (head, records, fence, database) =
            (row.head(), Arc::clone(&self.records), self.fence, &self.journal.database);
        let is_whole = row.is_whole();
        let writing = Arc::clone(&records);
        let insert = move |transaction: &Transaction<'_>| writing.insert(&row, transaction, fence);
        // Even if no one waits any longer, the record is known to this process once it is in the file.
        let note = move |written: &Result<_, _>| records.note(head, written);
        let written = if is_whole {
            database.write_noting(insert, note).await
        } else {
            database.write_without_savepoint(insert, note).await
        };
        match written.map_err(|error| self.failed(error))? {
            Written::New(_) => Ok(value),
            Written::Earlier(text) => self.parse(&text),
            Written::TakenOver => Err(self.taken_over()),
        }
    }

    /// Waits until a time that is recorded first, so that an interrupted wait continues.
    async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        let clock = Arc::clone(&self.journal.clock);
        let is_over = self.records.lock().get(&step.key).is_some();
        let wake = if is_over { clock.now() } else { self.wake_time(&step, later(clock.now(), duration)).await? };
        let in_flight = self.in_flight.begin(&step, Activity::Wait);
        in_flight.wait_until(wake);
        let wait = async move {
            // Negative once the time is over.
            let rest = Duration::try_from(wake.duration_since(clock.now())).unwrap_or_default();
            tokio::time::sleep(rest).await;
            Ok(Value::Null)
        };
        self.perform(step, Box::pin(wait)).await.map(drop)
    }

    /// Returns the recorded time at which a wait ends, or records and returns `wake`.
    async fn wake_time(&self, sleep: &StepSpec, wake: Timestamp) -> Result<Timestamp, JournalError> {
        // A run that is dropped before the time is recorded would not know when to continue.
        let _in_flight = self.in_flight.begin(sleep, Activity::Work);
        let wake = self.perform(sleep.within(StepKind::Sleep, WAKE), Box::pin(async move { Ok(json!(wake)) })).await?;
        serde_json::from_value(wake).map_err(|error| JournalError::InvalidValue {
            step: sleep.to_string(),
            message: format!("the recorded end of the wait is not a timestamp: {error}"),
        })
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
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

    pub(super) fn taken_over(&self) -> JournalError {
        JournalError::TakenOver { run: self.id.to_string() }
    }

    /// Returns an error of the file, and notes it if it may pass.
    pub(super) fn failed(&self, error: DatabaseError) -> JournalError {
        if !error.is_invalid_value() {
            self.has_file_failed.store(true, Ordering::Relaxed);
        }
        error.into()
    }

    fn io(&self, error: impl Into<BoxError>) -> JournalError {
        JournalError::Io { path: self.journal.path().to_owned(), source: std::io::Error::other(error) }
    }
}

#[async_trait]
impl Journal for SqliteRun {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        let _in_flight = self.0.in_flight.begin(&step, Activity::Work);
        self.0.perform(step, local).await
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        let _in_flight = self.0.in_flight.begin(&step, Activity::Call);
        self.0.perform(step, local).await
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        let _in_flight = self.0.in_flight.begin(&step, Activity::Call);
        self.0.perform(step, local).await
    }

    async fn promise(&self, asked: PromiseSpec) -> Result<Option<Promise>, JournalError> {
        self.0.check_claim()?;
        promises::promise(&self.0, asked).await.map(Some)
    }

    async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        self.0.sleep(step, duration).await
    }

    fn is_replaying(&self) -> bool {
        self.0.records.lock().is_replaying()
    }

    fn is_recorded(&self, key: &str) -> bool {
        self.0.records.lock().get(key).is_some()
    }

    fn recorded(&self, key: &str) -> Option<Value> {
        // A failure is not retried without the records that it followed from.
        let record = self.0.records.lock().get(key).filter(|_| !self.0.is_reduced)?.record;
        let text = self.0.journal.database.read_blocking(move |connection| tables::value(connection, record)).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn has_recorded_steps(&self, key: &str) -> bool {
        self.0.records.lock().has_steps_inside(key)
    }

    fn has_later_steps(&self, parent: &str) -> bool {
        self.0.records.lock().has_later_steps(parent)
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.0.forget(keys).await
    }

    fn unused(&self, parent: &str) -> Option<JournalError> {
        self.0.records.lock().unused(parent)
    }
}

impl fmt::Debug for SqliteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenRun { id, fence, .. } = &*self.0;
        f.debug_struct("SqliteRun").field("id", id).field("fence", fence).finish_non_exhaustive()
    }
}
