//! The life of a run: claimed, suspended, returned to the queue, finished, cancelled.

use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::journal::{Fence, lease, promises, sqlite_tables};
use rusqlite::{OptionalExtension, Params, Transaction, params};
use serde_json::Value;

use super::changes::Changed;
use super::run_state::{Outcome, RunState};
use super::runs::{RunRow, find};
use super::usage::raised;
use super::{Json, Millis, Store, StoreError};

/// The result of a request to cancel a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cancelling {
    /// A process runs it, and will end it.
    Requested,
    /// No process ran it, and it is cancelled.
    Done,
    AlreadyFinished,
    Unknown,
}

/// Selected from the claims, since running and ended runs are more numerous.
const OWN: &str = "
    SELECT id FROM journal_runs INDEXED BY journal_runs_owner CROSS JOIN runs USING (id)
    WHERE owner = ?1 AND state = 'running'";

/// Ordered by the time at which the claims lapsed.
const LAPSED: &str = "
    SELECT id FROM journal_runs INDEXED BY journal_runs_claimed CROSS JOIN runs USING (id)
    WHERE owner IS NOT NULL AND owner <> ?1 AND expires <= ?2 AND state = 'running' ORDER BY expires LIMIT ?3";

/// Two queries, so that each reads only the required part of its index, in order. SQLite would prefer the index of the
/// states, which also contains the runs that wait for a person.
/// which are also the runs that wait for a person.
const RUNNABLE: &str = "
    WITH free AS MATERIALIZED (
        SELECT * FROM (SELECT id FROM runs WHERE state = 'queued' AND NOT EXISTS (
            SELECT 1 FROM journal_runs AS claim
            WHERE claim.id = runs.id AND claim.owner <> ?1 AND claim.expires > ?2) ORDER BY id LIMIT ?3)
        UNION ALL
        SELECT * FROM (SELECT id FROM runs INDEXED BY waiting_runs WHERE state = 'waiting' AND wake <= ?2
            ORDER BY wake LIMIT ?3))
    SELECT id FROM free ORDER BY id LIMIT ?3";

impl Store {
    /// Returns the running runs that `owner` has claimed.
    pub(crate) async fn claimed(&self, owner: &str) -> Result<Vec<String>, StoreError> {
        self.ids(OWN, [owner.to_owned()]).await
    }

    /// Claims running runs whose process may have died, since its claim has lapsed, for `owner` and this time from `now` on; counts
    /// these deaths.
    ///
    /// They are chosen in the transaction that claims them, so that concurrent processes get different runs.
    pub(crate) async fn take_over(
        &self,
        owner: &str,
        now: Timestamp,
        time: Duration,
        limit: usize,
    ) -> Result<Vec<(String, Fence)>, StoreError> {
        let (owner, limit) = (owner.to_owned(), i64::try_from(limit).unwrap_or(i64::MAX));
        // Read first, since most calls find no run, and writes wait for each other.
        if self.ids(LAPSED, (owner.clone(), Millis(now), 1)).await?.is_empty() {
            return Ok(Vec::new());
        }
        let claim = move |tx: &Transaction<'_>| {
            let mut lapsed = tx.prepare_cached(LAPSED)?;
            let ids = lapsed.query_map(params![owner, Millis(now), limit], |row| row.get(0))?;
            let ids: Vec<String> = ids.collect::<Result<_, _>>()?;
            let claimed = lease::claim_all(tx, ids, &owner, now, time)?;
            claimed.iter().try_for_each(|(id, fence)| count_death(tx, id, *fence))?;
            Ok(claimed)
        };
        self.database.write(claim).await
    }

    /// Ends the claims of a process that has ended, as if they lapsed now.
    pub(crate) async fn end_claims(&self, owner: &str, now: Timestamp) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        self.change(Changed::Queue, move |tx| lease::lapse_all(tx, &owner, now)).await
    }

    /// Returns the runs that the process `owner` may start or resume now, oldest first, without runs that another
    /// process has claimed, since trying to claim those would be a write.
    pub(crate) async fn runnable(&self, owner: &str, now: Timestamp, limit: usize) -> Result<Vec<String>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.ids(RUNNABLE, (owner.to_owned(), Millis(now), limit)).await
    }

    async fn ids(&self, sql: &'static str, values: impl Params + Send + 'static) -> Result<Vec<String>, StoreError> {
        self.database
            .read(move |connection| {
                let mut statement = connection.prepare_cached(sql)?;
                let ids = statement.query_map(values, |row| row.get(0))?;
                ids.collect()
            })
            .await
    }

    /// Marks a run as running and returns it; `None` if it has finished in the meantime, or if another process has
    /// claimed it.
    pub(crate) async fn begin(&self, id: &str, fence: Fence, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        let id = id.to_owned();
        let sql =
            "UPDATE runs SET state = 'running', attempts = attempts + 1, started = coalesce(started, ?2), wake = NULL
                   WHERE id = ?1 AND finished IS NULL";
        let begun = self.change(Changed::Run(id.clone()), move |tx| {
            let begun = if fence.holds(tx)? { tx.execute(sql, params![id, Millis(now)])? } else { 0 };
            if begun == 0 { Ok(None) } else { find(tx, &id) }
        });
        begun.await
    }

    /// Suspends a run whose last record had the number `recorded` when it only waited: it waits for its answers and for
    /// `wake`.
    ///
    /// An answer may have arrived while the run was suspended. Then there is either a later record, or a promise whose
    /// key is not in `known`, and the run returns to the queue.
    pub(crate) async fn park(
        &self,
        id: &str,
        fence: Fence,
        wake: Option<Timestamp>,
        recorded: i64,
        known: Vec<String>,
        usage: RunUsage,
    ) -> Result<(), StoreError> {
        let id = id.to_owned();
        let parked = self.change(Changed::QueueAndRun(id.clone()), move |tx| {
            if !fence.holds(tx)? {
                return Ok(0);
            }
            let sql = "SELECT key FROM waits WHERE run = ? AND answer IS NOT NULL AND is_current";
            let mut statement = tx.prepare_cached(sql)?;
            let answered: Vec<String> = statement.query_map([&id], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let number = number(tx, &id)?;
            // The writes of the run before it was suspended have been committed before this.
            let last = number.map(|number| sqlite_tables::last(tx, number)).transpose()?;
            let has_progressed = last != Some(recorded);
            let can_continue = has_progressed || answered.iter().any(|key| !known.contains(key));
            // Otherwise the usage would be lost if the run is cancelled while it waits.
            let (usage, _) = raised(tx, &id, &usage)?;
            let sql = "UPDATE runs SET wake = ?2, usage = ?4,
                       state = CASE WHEN ?3 OR is_cancelled THEN 'queued' ELSE 'waiting' END
                       WHERE id = ?1 AND state = 'running'";
            tx.execute(sql, params![id, wake.map(Millis), can_continue, usage])
        });
        parked.await.map(drop)
    }

    /// Adds the times that the process `owner` worked on runs that it still has.
    pub(crate) async fn worked(&self, owner: &str, times: Vec<(String, Duration)>) -> Result<(), StoreError> {
        let owner = owner.to_owned();
        let added = self.database.write(move |tx| {
            let sql = "UPDATE runs SET worked = worked + ?2 WHERE id = ?1
                       AND EXISTS (SELECT 1 FROM journal_runs WHERE journal_runs.id = ?1 AND owner = ?3)";
            let mut statement = tx.prepare_cached(sql)?;
            let add = |(id, time): &(String, Duration)| {
                let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
                statement.execute(params![id, millis, owner]).map(drop)
            };
            times.iter().try_for_each(add)
        });
        added.await
    }

    /// Returns a run to the queue, for example when its process ends, with its usage if that is known here.
    pub(crate) async fn requeue(&self, id: &str, fence: Fence, usage: Option<RunUsage>) -> Result<(), StoreError> {
        let id = id.to_owned();
        let requeued = self.change(Changed::Run(id.clone()), move |tx| {
            if !fence.holds(tx)? {
                return Ok(0);
            }
            let usage = usage.map(|usage| raised(tx, &id, &usage)).transpose()?.map(|(usage, _)| usage);
            let sql = "UPDATE runs SET state = 'queued', usage = coalesce(?2, usage)
                       WHERE id = ?1 AND state = 'running'";
            tx.execute(sql, params![id, usage])
        });
        requeued.await.map(drop)
    }

    /// Ends the claim of a process on a run. If the run has not ended, it returns to the queue, since a run without a
    /// claim is not running.
    pub(crate) async fn release(&self, id: &str, fence: Fence) -> Result<(), StoreError> {
        let id = id.to_owned();
        let sql = "UPDATE runs SET state = 'queued' WHERE id = ? AND state = 'running'";
        let released = self.database.write(move |tx| {
            if fence.holds(tx)? {
                tx.prepare_cached(sql)?.execute([id])?;
                fence.release(tx)?;
            }
            Ok(())
        });
        released.await
    }

    /// Records the outcome of a run, with the state of its chat if that has changed, and withdraws its questions;
    /// returns false if another process has claimed the run.
    pub(crate) async fn finish(
        &self,
        id: &str,
        fence: Fence,
        outcome: Outcome,
        usage: RunUsage,
        chat: Option<(String, Value)>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = id.to_owned();
        let finished = self.change(Changed::Run(id.clone()), move |tx| {
            if !fence.holds(tx)? {
                return Ok(false);
            }
            finish(tx, &id, &outcome, Some(&usage), now)?;
            if let Some((chat, state)) = &chat {
                tx.execute("UPDATE chats SET state = ?2 WHERE id = ?1", params![chat, Json(state)])?;
            }
            Ok(true)
        });
        finished.await
    }

    /// Records that a run cannot be started, without reading it.
    pub(crate) async fn fail(&self, id: &str, fence: Fence, error: String, now: Timestamp) -> Result<(), StoreError> {
        let (id, outcome, changed) = (id.to_owned(), Outcome::Error(error), Changed::Run(id.to_owned()));
        let fail = move |tx: &Transaction<'_>| {
            if fence.holds(tx)? { finish(tx, &id, &outcome, None, now) } else { Ok(()) }
        };
        self.change(changed, fail).await
    }

    /// Requests the end of a run.
    pub(crate) async fn cancel(&self, id: &str, now: Timestamp) -> Result<Cancelling, StoreError> {
        let id = id.to_owned();
        let cancelling = self.change(Changed::QueueAndRun(id.clone()), move |tx| {
            let Some(run) = find(tx, &id)? else { return Ok(Cancelling::Unknown) };
            if run.state.is_finished() {
                return Ok(Cancelling::AlreadyFinished);
            }
            tx.execute("UPDATE runs SET is_cancelled = 1 WHERE id = ?", [&id])?;
            if run.state == RunState::Running {
                return Ok(Cancelling::Requested);
            }
            finish(tx, &id, &Outcome::Cancelled, None, now)?;
            Ok(Cancelling::Done)
        });
        cancelling.await
    }

    /// Returns the running runs whose cancellation was requested.
    pub(crate) async fn cancel_requested(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM runs INDEXED BY runs_to_cancel WHERE is_cancelled = 1 AND finished IS NULL AND state = 'running'";
        self.ids(sql, []).await
    }
}

/// Counts the death of a process in a run. If the run has recorded a finished effect since the last death, it makes
/// progress, and its count restarts.
fn count_death(tx: &Transaction<'_>, id: &str, fence: Fence) -> rusqlite::Result<()> {
    let last = sqlite_tables::last_effect(tx, fence.run)?;
    let sql = "UPDATE runs SET deaths = CASE WHEN last_effect = ?2 THEN deaths + 1 ELSE 1 END, last_effect = ?2 WHERE id = ?1";
    tx.prepare_cached(sql)?.execute(params![id, last]).map(drop)
}

/// Records the outcome of a run; the retention of its chat counts from this time too.
fn finish(
    tx: &Transaction<'_>,
    id: &str,
    outcome: &Outcome,
    usage: Option<&RunUsage>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (usage, counted) = usage.map(|usage| raised(tx, id, usage)).transpose()?.unzip();
    let sql = "UPDATE runs SET state = ?2, outcome = ?3, usage = coalesce(?4, usage), counted = coalesce(?5, counted),
               finished = ?6, wake = NULL WHERE id = ?1";
    tx.execute(sql, params![id, outcome.state(), Json(outcome), usage, counted, Millis(now)])?;
    let sql = "UPDATE chats SET updated = max(updated, ?2) WHERE id = (SELECT chat FROM runs WHERE id = ?1)";
    tx.prepare_cached(sql)?.execute(params![id, Millis(now)])?;
    number(tx, id)?.map_or(Ok(()), |number| promises::withdraw_all(tx, number))
}

/// Returns the number of a run in the journal.
pub(super) fn number(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<i64>> {
    tx.prepare_cached("SELECT run FROM journal_runs WHERE id = ?")?.query_row([id], |row| row.get(0)).optional()
}

#[cfg(test)]
mod tests;
