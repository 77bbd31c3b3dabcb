//! Claims of runs: one process has a run at a time, and late writes of another process are refused.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction};

use super::later;

/// The right to write to a run, as long as no other process claims the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The number of the run in the file.
    pub run: i64,
    /// The number of the claim.
    pub(crate) number: i64,
}

/// The result of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Granted(Fence),
    /// Another owner has the run until this time, unless it renews the lease.
    Held(Timestamp),
}

impl Fence {
    /// Returns whether no other process has claimed the run since then.
    pub fn holds(self, connection: &Connection) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM journal_runs WHERE run = ?1 AND fence = ?2";
        connection.prepare_cached(sql)?.exists((self.run, self.number))
    }

    /// Extends the lease until a time, if it ends earlier; returns false if another process has claimed the run.
    pub(crate) fn renew(self, transaction: &Transaction<'_>, until: Timestamp) -> rusqlite::Result<bool> {
        let sql = "UPDATE journal_runs SET expires = max(coalesce(expires, 0), ?3) WHERE run = ?1 AND fence = ?2";
        let parameters = (self.run, self.number, until.as_millisecond());
        Ok(transaction.prepare_cached(sql)?.execute(parameters)? > 0)
    }

    /// Ends the claim: any process may claim the run, and this process can no longer write to it.
    pub fn release(self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let sql =
            "UPDATE journal_runs SET owner = NULL, expires = NULL, fence = fence + 1 WHERE run = ?1 AND fence = ?2";
        transaction.prepare_cached(sql)?.execute((self.run, self.number)).map(drop)
    }
}

/// Claims a run for `owner` until a time, unless another owner has it. Creates the run if it is new.
///
/// Without a time, the run is claimed until any other process claims it.
pub(crate) fn claim(
    transaction: &Transaction<'_>,
    id: &str,
    owner: Option<&str>,
    now: Timestamp,
    until: Option<Timestamp>,
) -> rusqlite::Result<Claim> {
    let sql = "SELECT expires FROM journal_runs WHERE id = ?1 AND expires > ?2 AND owner IS NOT ?3";
    let mut statement = transaction.prepare_cached(sql)?;
    let held = statement.query_row((id, now.as_millisecond(), owner), |row| row.get::<_, i64>(0)).optional()?;
    if let Some(until) = held {
        return Ok(Claim::Held(Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX)));
    }
    let sql = "INSERT INTO journal_runs (id, fence, owner, expires) VALUES (?1, 1, ?2, ?3) \
               ON CONFLICT (id) DO UPDATE SET fence = fence + 1, owner = ?2, expires = ?3 RETURNING run, fence";
    let mut statement = transaction.prepare_cached(sql)?;
    let parameters = (id, owner, until.map(Timestamp::as_millisecond));
    statement.query_row(parameters, |row| Ok(Claim::Granted(Fence { run: row.get(0)?, number: row.get(1)? })))
}

/// Claims several runs for a time from `now`; returns the runs that no other owner has.
#[doc(hidden)]
pub fn claim_all(
    transaction: &Transaction<'_>,
    ids: Vec<String>,
    owner: &str,
    now: Timestamp,
    time: Duration,
) -> rusqlite::Result<Vec<(String, Fence)>> {
    let until = later(now, time);
    let claims = ids.into_iter().map(|id| match claim(transaction, &id, Some(owner), now, Some(until))? {
        Claim::Granted(fence) => Ok(Some((id, fence))),
        Claim::Held(_) => Ok(None),
    });
    claims.filter_map(Result::transpose).collect()
}

/// Ends all leases of an owner at a time, if they end later.
#[doc(hidden)]
pub fn lapse_all(transaction: &Transaction<'_>, owner: &str, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "UPDATE journal_runs SET expires = ?2 WHERE owner = ?1 AND expires > ?2";
    transaction.prepare_cached(sql)?.execute((owner, at.as_millisecond())).map(drop)
}

/// Extends all leases of an owner that end before a time; returns their number.
pub(crate) fn renew_all(transaction: &Transaction<'_>, owner: &str, until: Timestamp) -> rusqlite::Result<usize> {
    let sql = "UPDATE journal_runs SET expires = ?2 WHERE owner = ?1 AND expires < ?2";
    transaction.prepare_cached(sql)?.execute((owner, until.as_millisecond()))
}
