//! One run in a file with many runs.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::super::shared::read_replay;
use super::super::{
    Journal, JournalError, JournalOutcome, Promise, PromiseSpec, Record, Settlement, StepFuture, StepKind, StepSpec,
    key,
};
use super::in_flight::{Activity, InFlight};
use super::lease::Fence;
use super::open_run::{OpenRun, Records};
use super::promises::{self, Dropped};
use super::read;
use super::{SqliteJournal, later};
use crate::observe::database::DatabaseError;

/// One run of a [`SqliteJournal`]: the journal of that run.
///
/// Clones share it. Dropping the last one frees the memory of the run, which [`SqliteJournal::run`] opens again.
///
/// The end of a wait is recorded when the wait begins: a resumed run waits only for the remaining time.
#[derive(Clone)]
pub struct SqliteRun(pub(super) Arc<OpenRun>);

impl SqliteRun {
    /// Loads a run that was claimed; `None` if it was deleted since then.
    pub(super) async fn load(
        journal: SqliteJournal,
        id: Arc<str>,
        fence: Fence,
        time: Option<Duration>,
    ) -> Result<Option<Self>, DatabaseError> {
        let until = time.map_or(Timestamp::MAX, |time| later(journal.clock.now(), time));
        let load = move |connection: &Connection| {
            let sql = "SELECT reduced FROM journal_runs WHERE run = ?1";
            let reduced = connection.query_row(sql, [fence.run], |row| row.get(0)).optional()?;
            let Some(is_reduced) = reduced else { return Ok(None) };
            Ok(Some((is_reduced, read::load(connection, fence.run, is_reduced)?)))
        };
        let Some((is_reduced, (mut replay, last))) = journal.database.read(load).await? else { return Ok(None) };
        let asked = journal.database.read(move |connection| promises::asked(connection, fence.run)).await;
        let asked = asked.map(|asked| replay.questions = asked);
        let run = OpenRun {
            journal,
            id,
            fence,
            time,
            until: AtomicI64::new(until.as_millisecond()),
            records: Arc::new(Records::new(replay, last)),
            is_reduced,
            has_file_failed: AtomicBool::new(false),
            promise_failure: OnceLock::new(),
            in_flight: InFlight::default(),
            dropped: Dropped::default(),
        };
        // As for any failed promise, later steps are not recorded, and the run is resumed later.
        if let Err(error) = asked {
            drop(run.failed_promise(error));
        }
        Ok(Some(Self(Arc::new(run))))
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the right to write to the run, which also covers other tables of the file.
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

    /// Returns the name of the call that began last and has no result, if there is one.
    pub(crate) fn call_in_flight(&self) -> Option<Arc<str>> {
        let replay = self.0.records.lock();
        let begun = replay.records().filter(|head| head.kind == StepKind::Begun);
        let unfinished = begun.filter(|head| {
            let call = key::call(&head.key, &head.parent);
            // The result of a root call has a separate key.
            replay.get(call).is_none_or(|record| record.kind == StepKind::Run)
        });
        unfinished.last().map(|head| Arc::clone(&head.name))
    }

    /// Returns whether the file could not be read or written at any time; the failed steps may succeed later.
    pub(crate) fn has_file_failed(&self) -> bool {
        self.0.has_file_failed.load(Ordering::Relaxed)
    }

    /// Settles the outcome of a call if it is unknown, by the key of its step; the run can then be resumed.
    ///
    /// An earlier answer of a person about it, such as that the run stops, no longer counts.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::InvalidValue`] if no call with this key began, or it is already settled, and the errors
    /// of [`step`](Journal::step).
    pub async fn settle(&self, step: &str, settlement: &Settlement) -> Result<(), JournalError> {
        // It is about the beginnings of calls, and the answers about them.
        let keep = |record: Record| matches!(record.kind, StepKind::Begun | StepKind::Approval).then_some(record);
        let records = self.0.journal.read_parts(self.id(), keep).await?;
        let (record, used_up) = settlement.record(&records, step)?;
        if !used_up.is_empty() {
            self.0.forget(used_up).await?;
        }
        self.0.append(record).await
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

    /// Ends the claim: this process records nothing more, and any process may claim the run.
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

    /// Waits until the run has only waited for `quiet`, for decisions, answers or sleeps; returns the end of the first
    /// sleep.
    ///
    /// Then the run can be dropped, since no effect is in flight that would have to run again. Code between two steps
    /// is not visible here, so `quiet` must be longer than such code takes.
    pub(crate) async fn only_waits(&self, quiet: Duration) -> Option<Timestamp> {
        self.0.in_flight.only_waits(quiet).await
    }
}

#[async_trait]
impl Journal for SqliteRun {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let _in_flight = self.0.in_flight.begin(&step, Activity::Work);
        self.0.perform(step, local).await
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let _in_flight = self.0.in_flight.begin(&step, Activity::Call);
        self.0.perform(step, local).await
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let _in_flight = self.0.in_flight.begin(&step, Activity::Call);
        self.0.perform(step, local).await
    }

    async fn promise(&self, asked: PromiseSpec) -> Result<Option<Promise>, JournalError> {
        self.0.check_claim()?;
        self.0.check_promises()?;
        promises::promise(&self.0, asked).await.map(Some)
    }

    async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        self.0.sleep(step, duration).await
    }

    async fn recorded(&self, key: &str) -> Option<Value> {
        // Without the records before it, a failure cannot be retried.
        let record = self.0.records.lock().get(key).filter(|_| !self.0.is_reduced)?.record;
        // An error is stored: the run may end as it did before, and must then be retried.
        self.0.value(record).await.ok()
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        self.0.forget(keys).await
    }

    read_replay!(self => self.0.records.lock());
}

impl fmt::Debug for SqliteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OpenRun { id, fence, .. } = &*self.0;
        f.debug_struct("SqliteRun").field("id", id).field("fence", fence).finish_non_exhaustive()
    }
}
