//! The retention of ended runs: what is kept, and for how long.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Transaction;

use super::{promises, tables};

/// The number of runs that are changed in one transaction, so that steps of other runs wait for a short time only.
const AT_ONCE: u32 = 100;

/// How long the records of a run are kept after its result was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retention {
    /// How long all records are kept; after that, only the result is.
    pub records: Duration,
    /// How long the result is kept; `None`: for ever.
    pub results: Option<Duration>,
}

/// The number of runs with deleted records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expired {
    /// The number of runs of which only the result remains.
    pub reduced: usize,
    /// The number of runs that were deleted completely.
    pub deleted: usize,
}

impl Retention {
    /// Keeps all records for a time, and results for ever.
    #[must_use]
    pub fn new(records: Duration) -> Self {
        Self { records, results: None }
    }

    /// Sets how long results are kept.
    #[must_use]
    pub fn results(self, results: Duration) -> Self {
        Self { results: Some(results), ..self }
    }
}

/// Reduces some runs that ended before a time to their result; returns their number, 0 when no run remains.
pub(super) fn reduce(transaction: &Transaction<'_>, before: Timestamp, now: Timestamp) -> rusqlite::Result<usize> {
    let runs = ended(transaction, "reduced = 0 AND", before, now)?;
    for run in &runs {
        tables::delete(transaction, *run, true)?;
        promises::delete_all(transaction, *run)?;
        transaction.prepare_cached("UPDATE journal_runs SET reduced = 1 WHERE run = ?1")?.execute([run])?;
    }
    Ok(runs.len())
}

/// Deletes some runs that ended before a time; returns their number, 0 when no run remains.
pub(super) fn delete(transaction: &Transaction<'_>, before: Timestamp, now: Timestamp) -> rusqlite::Result<usize> {
    let runs = ended(transaction, "", before, now)?;
    for run in &runs {
        delete_run(transaction, *run)?;
    }
    Ok(runs.len())
}

/// Deletes a run. A process that has claimed it can no longer write to it.
#[doc(hidden)]
pub fn delete_run(transaction: &Transaction<'_>, run: i64) -> rusqlite::Result<()> {
    tables::delete(transaction, run, false)?;
    promises::delete_all(transaction, run)?;
    transaction.prepare_cached("DELETE FROM journal_runs WHERE run = ?1")?.execute([run]).map(drop)
}

/// Returns runs that ended before a time and are not claimed.
fn ended(
    transaction: &Transaction<'_>,
    condition: &str,
    before: Timestamp,
    now: Timestamp,
) -> rusqlite::Result<Vec<i64>> {
    let sql = format!(
        "SELECT run FROM journal_runs WHERE {condition} ended < ?1 AND coalesce(expires, 0) <= ?2 ORDER BY ended LIMIT ?3"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let parameters = (before.as_millisecond(), now.as_millisecond(), AT_ONCE);
    statement.query_map(parameters, |row| row.get(0))?.collect()
}
