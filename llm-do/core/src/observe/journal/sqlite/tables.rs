//! The tables of the journal, and the statements that write to them.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::Serialize;
use serde_json::Value;

use super::super::{Record, StepKind, key};
use super::head::RecordHead;
use super::lease::Fence;
use super::promises;
use super::read::{self, records_of};
use crate::observe::database::Component;

/// A released migration never changes.
pub(super) const TABLES: Component = Component {
    name: "journal",
    migrations: &["
    -- The numbers of deleted runs are not used again: a process that was stalled must not write to another run.
    CREATE TABLE journal_runs (
        run INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        -- Grows whenever a process claims the run; a write states the number that its process got.
        fence INTEGER NOT NULL,
        -- Who has the run, and until when, in milliseconds since 1970.
        owner TEXT,
        expires INTEGER,
        -- When the result was recorded, in milliseconds since 1970.
        ended INTEGER,
        -- Whether only the result is kept.
        reduced INTEGER NOT NULL DEFAULT 0,
        -- The number of its last record.
        last INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX journal_runs_ended ON journal_runs (ended) WHERE ended IS NOT NULL;
    CREATE INDEX journal_runs_claimed ON journal_runs (expires) WHERE owner IS NOT NULL;
    CREATE INDEX journal_runs_owner ON journal_runs (owner) WHERE owner IS NOT NULL;
    -- In the order in which the steps ended. A row of the kind `forget` has the keys whose records before it are forgotten.
    CREATE TABLE journal_records (
        record INTEGER PRIMARY KEY,
        -- The number of the run's record before this one. The records of a run are a list and not in an index: then what many
        -- runs record at one time is in few pages.
        previous INTEGER NOT NULL,
        key TEXT NOT NULL,
        -- Whether its key may be recorded again.
        forgotten INTEGER NOT NULL DEFAULT 0,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        parent TEXT NOT NULL,
        place INTEGER NOT NULL,
        overlapped INTEGER NOT NULL,
        begun INTEGER,
        callers TEXT,
        digest INTEGER NOT NULL,
        -- In nanoseconds since 1970.
        time INTEGER NOT NULL,
        -- Last, since they are long: what is before them is read without them.
        input TEXT NOT NULL,
        value TEXT NOT NULL
    ) STRICT;
    -- What steps ask people. Times are in milliseconds since 1970.
    CREATE TABLE journal_promises (
        id TEXT PRIMARY KEY,
        run INTEGER NOT NULL,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        request TEXT NOT NULL,
        digest TEXT NOT NULL,
        created INTEGER NOT NULL,
        answer TEXT,
        answered_by TEXT,
        answered INTEGER,
        -- The number of the claim that asked last.
        fence INTEGER NOT NULL,
        -- Whether the run no longer waits for it.
        is_withdrawn INTEGER NOT NULL DEFAULT 0,
        UNIQUE (run, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX journal_open_promises ON journal_promises (created) WHERE answer IS NULL AND is_withdrawn = 0;
    "],
};

/// The name of the rows that forget records.
const FORGET: &str = "forget";

/// Without a previous record, another process has the run, and nothing is added.
const INSERT: &str = "INSERT OR IGNORE INTO journal_records \
    (previous, key, kind, name, parent, place, overlapped, begun, callers, digest, time, input, value) VALUES \
    ((SELECT last FROM journal_runs WHERE run = ?1 AND fence = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// The row of a record.
pub(super) struct RecordRow {
    record: Record,
    digest: u64,
    callers: Option<String>,
    input: String,
    value: String,
}

/// The result of writing a record.
pub(super) enum Written {
    /// The record was added with this number.
    New(i64),
    /// Another record with this outcome was added under its key in the meantime.
    Earlier(String),
    /// Another process has the run.
    TakenOver,
}

impl RecordRow {
    /// Returns the row of a record, and its outcome.
    pub(super) fn new(mut record: Record) -> serde_json::Result<(Self, Value)> {
        let callers = (!record.callers.is_empty()).then(|| serde_json::to_string(&record.callers)).transpose()?;
        let (input, text) = (serde_json::to_string(&record.input)?, serde_json::to_string(&record.value)?);
        let value = record.value.take();
        Ok((Self { digest: key::hash(&record.input), record, callers, input, value: text }, value))
    }

    /// Returns the in-memory part of the record; it has no number yet.
    pub(super) fn head(&self) -> RecordHead {
        RecordHead::new(0, &self.record, self.digest)
    }

    /// Returns whether all rows of [`insert`](Self::insert) must be undone if it fails. Other records count only once
    /// they are in the list of their run, which is written last.
    pub(super) fn is_whole(&self) -> bool {
        self.record.kind == StepKind::Result
    }

    /// Adds the record, unless another process has the run, or the record `earlier` has its key.
    pub(super) fn insert(
        &self,
        transaction: &Transaction<'_>,
        fence: Fence,
        earlier: Option<i64>,
    ) -> rusqlite::Result<Written> {
        if let Some(earlier) = earlier {
            let value = read::value(transaction, fence, earlier)?;
            return Ok(value.map_or(Written::TakenOver, Written::Earlier));
        }
        let Self { record, digest, callers, input, value } = self;
        let parameters = rusqlite::params![
            fence.run,
            fence.number,
            record.key,
            record.kind.as_str(),
            record.name,
            record.parent,
            record.place,
            record.overlapped,
            record.begun,
            callers,
            digest.cast_signed(),
            nanoseconds(record.time),
            input,
            value,
        ];
        if transaction.prepare_cached(INSERT)?.execute(parameters)? == 0 {
            return Ok(Written::TakenOver);
        }
        let added = append(transaction, fence.run)?;
        if record.kind == StepKind::Result {
            set_ended(transaction, fence, Some(record.time))?;
            promises::withdraw_all(transaction, fence.run)?;
        }
        Ok(Written::New(added))
    }

    pub(super) fn key(&self) -> &Arc<str> {
        &self.record.key
    }
}

/// Forgets these records, by number and key; returns the number of the new record, or `None` if another process has the
/// run.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    fence: Fence,
    records: &[(i64, Arc<str>)],
) -> rusqlite::Result<Option<i64>> {
    if !fence.holds(transaction)? {
        return Ok(None);
    }
    let sql = "UPDATE journal_records SET forgotten = 1, input = 'null', value = 'null' \
               WHERE record = ?1 RETURNING kind = 'result'";
    let mut statement = transaction.prepare_cached(sql)?;
    for (record, _) in records {
        let is_result = statement.query_row([record], |row| row.get(0)).optional()?;
        if is_result == Some(true) {
            set_ended(transaction, fence, None)?;
        }
    }
    let sql = "INSERT INTO journal_records \
        (previous, key, forgotten, kind, name, parent, place, overlapped, digest, time, input, value) \
        SELECT last, '', 1, ?2, '', '', 0, 0, 0, ?3, 'null', ?4 FROM journal_runs WHERE run = ?1";
    let now = nanoseconds(Timestamp::now());
    let keys: Vec<_> = records.iter().map(|(_, key)| key).collect();
    transaction.execute(sql, (fence.run, FORGET, now, json_text(keys)?))?;
    append(transaction, fence.run).map(Some)
}

/// Makes the record that was just added the last record of its run; returns its number.
///
/// If this fails, the record is not in the list, as if it had not been added.
fn append(transaction: &Transaction<'_>, run: i64) -> rusqlite::Result<i64> {
    let record = transaction.last_insert_rowid();
    let sql = "UPDATE journal_runs SET last = ?2 WHERE run = ?1";
    transaction.prepare_cached(sql)?.execute((run, record))?;
    Ok(record)
}

/// Deletes the records of a run; with `keeps_result`, all except its beginning and its last result.
pub(super) fn delete(transaction: &Transaction<'_>, run: i64, keeps_result: bool) -> rusqlite::Result<()> {
    let sql = concat!(
        records_of!("SELECT last FROM journal_runs WHERE run = ?1 AND last > 0"),
        "SELECT record, kind IN ('run', 'result') AND forgotten = 0 FROM list CROSS JOIN journal_records USING (record)"
    );
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let records: Vec<(i64, bool)> =
        transaction.prepare_cached(sql)?.query_map([run], read)?.collect::<rusqlite::Result<_>>()?;
    let (kept, deleted): (Vec<_>, Vec<_>) = records.into_iter().partition(|(_, is_kept)| *is_kept && keeps_result);
    let mut delete = transaction.prepare_cached("DELETE FROM journal_records WHERE record = ?1")?;
    for (record, _) in deleted {
        delete.execute([record])?;
    }
    let mut kept: Vec<_> = kept.into_iter().map(|(record, _)| record).collect();
    kept.sort_unstable();
    let mut link = transaction.prepare_cached("UPDATE journal_records SET previous = ?2 WHERE record = ?1")?;
    let mut last = 0;
    for record in kept {
        link.execute((record, last))?;
        last = record;
    }
    transaction.prepare_cached("UPDATE journal_runs SET last = ?2 WHERE run = ?1")?.execute((run, last)).map(drop)
}

fn set_ended(transaction: &Transaction<'_>, fence: Fence, ended: Option<Timestamp>) -> rusqlite::Result<()> {
    let sql = "UPDATE journal_runs SET ended = ?2 WHERE run = ?1";
    transaction.prepare_cached(sql)?.execute((fence.run, ended.map(Timestamp::as_millisecond))).map(drop)
}

/// Returns the number of the last record of a run; 0 without a record.
#[doc(hidden)]
pub fn last(connection: &Connection, run: i64) -> rusqlite::Result<i64> {
    let sql = "SELECT last FROM journal_runs WHERE run = ?1";
    connection.prepare_cached(sql)?.query_row([run], |row| row.get(0)).optional().map(Option::unwrap_or_default)
}

/// Returns the number of the last record of a finished effect in a run; 0 without such a record. Records that only
/// precede an effect do not count.
#[doc(hidden)]
pub fn last_effect(connection: &Connection, run: i64) -> rusqlite::Result<i64> {
    let sql = concat!(
        records_of!("SELECT last FROM journal_runs WHERE run = ?1 AND last > 0"),
        "SELECT coalesce(max(record), 0) FROM list CROSS JOIN journal_records USING (record) \
        WHERE forgotten = 0 AND kind NOT IN ('run', 'approval', 'begun')"
    );
    connection.prepare_cached(sql)?.query_row([run], |row| row.get(0))
}

/// Saturates in the year 2262.
fn nanoseconds(time: Timestamp) -> i64 {
    i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX)
}

fn json_text(value: impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(&value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
