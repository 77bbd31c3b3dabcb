//! The life of a run: claimed, set aside, put back, finished, cancelled, resumed.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Params, Transaction, params};
use serde_json::Value;

use super::run_state::{Outcome, RunState};
use super::runs::{RunRow, find};
use super::{Json, Millis, Store, StoreError, Topic};
use crate::base::usage::RunUsage;
use crate::observe::journal::promises;

/// What a request to cancel a run met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::app::serve) enum Cancelling {
    /// A process runs it, and will end it.
    Requested,
    /// It ran nowhere, and is cancelled.
    Done,
    AlreadyFinished,
    Unknown,
}

impl Store {
    /// Returns the running runs: the process of one may have died.
    pub(in crate::app::serve) async fn running(&self) -> Result<Vec<String>, StoreError> {
        self.ids("SELECT id FROM runs WHERE state = 'running' ORDER BY id", []).await
    }

    /// Returns the runs that a process may start or resume now, the oldest first.
    pub(in crate::app::serve) async fn runnable(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let sql =
            "SELECT id FROM runs WHERE state = 'queued' OR (state = 'waiting' AND wake <= ?1) ORDER BY id LIMIT ?2";
        self.ids(sql, (Millis(now), i64::try_from(limit).unwrap_or(i64::MAX))).await
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

    /// Marks a run as running and returns it; `None` if it has finished meanwhile. The caller has its lease.
    pub(in crate::app::serve) async fn begin(&self, id: &str, now: Timestamp) -> Result<Option<RunRow>, StoreError> {
        let id = id.to_owned();
        let sql =
            "UPDATE runs SET state = 'running', attempts = attempts + 1, started = coalesce(started, ?2), wake = NULL
                   WHERE id = ?1 AND finished IS NULL";
        let begun = self.database.write(move |tx| {
            let begun = tx.execute(sql, params![id, Millis(now)])?;
            if begun == 0 { Ok(None) } else { find(tx, &id) }
        });
        let begun = begun.await?;
        self.notify(&[Topic::Progress]);
        Ok(begun)
    }

    /// Puts a run back: it waits for its answers and for `wake`, or for a process if it `can_continue`, or if an answer that it
    /// asked for in this attempt is there and is not `recorded`, by its key.
    pub(in crate::app::serve) async fn park(
        &self,
        id: &str,
        wake: Option<Timestamp>,
        can_continue: bool,
        recorded: Vec<String>,
    ) -> Result<(), StoreError> {
        let id = id.to_owned();
        let parked = self.database.write(move |tx| {
            let sql = "SELECT key FROM waits WHERE run = ? AND answer IS NOT NULL AND is_current";
            let mut statement = tx.prepare_cached(sql)?;
            let answered: Vec<String> = statement.query_map([&id], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let can_continue = can_continue || answered.iter().any(|key| !recorded.contains(key));
            let sql = "UPDATE runs SET wake = ?2, state = CASE WHEN ?3 OR is_cancelled THEN 'queued' ELSE 'waiting' END
                       WHERE id = ?1 AND state = 'running'";
            tx.execute(sql, params![id, wake.map(Millis), can_continue])
        });
        parked.await?;
        self.notify(&[Topic::Queue, Topic::Progress]);
        Ok(())
    }

    /// Puts runs back into the queue, such as when their process ends.
    pub(in crate::app::serve) async fn requeue(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        let sql = "UPDATE runs SET state = 'queued' WHERE id = ? AND state = 'running'";
        self.database.write(move |tx| tx.execute(sql, [id])).await?;
        Ok(())
    }

    /// Records how a run ended, and withdraws what it waited for.
    pub(in crate::app::serve) async fn finish(
        &self,
        id: &str,
        outcome: Outcome,
        usage: RunUsage,
        chat: Option<(String, Value)>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = id.to_owned();
        let finished = self.database.write(move |tx| {
            finish(tx, &id, &outcome, Some(&usage), now)?;
            if let Some((chat, state)) = &chat {
                let sql = "UPDATE chats SET state = ?2, updated = ?3 WHERE id = ?1";
                tx.execute(sql, params![chat, Json(state), Millis(now)])?;
            }
            Ok(())
        });
        finished.await?;
        self.notify(&[Topic::Progress]);
        Ok(())
    }

    /// Requests that a run ends.
    pub(in crate::app::serve) async fn cancel(&self, id: &str, now: Timestamp) -> Result<Cancelling, StoreError> {
        let id = id.to_owned();
        let cancelling = self.database.write(move |tx| {
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
        let cancelling = cancelling.await?;
        self.notify(&[Topic::Queue, Topic::Progress]);
        Ok(cancelling)
    }

    /// Returns the running runs that a client wants cancelled.
    pub(in crate::app::serve) async fn cancel_requested(&self) -> Result<Vec<String>, StoreError> {
        self.ids("SELECT id FROM runs WHERE state = 'running' AND is_cancelled = 1", []).await
    }

    /// Puts a failed or cancelled run back into the queue; returns whether it was one.
    pub(in crate::app::serve) async fn resume(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        let sql = "UPDATE runs SET state = 'queued', outcome = NULL, finished = NULL, is_cancelled = 0
                   WHERE id = ? AND state IN ('failed', 'cancelled')";
        let resumed = self.database.write(move |tx| tx.execute(sql, [&id]));
        let resumed = resumed.await?;
        self.notify(&[Topic::Queue, Topic::Progress]);
        Ok(resumed > 0)
    }
}

fn finish(
    tx: &Transaction<'_>,
    id: &str,
    outcome: &Outcome,
    usage: Option<&RunUsage>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let sql = "UPDATE runs SET state = ?2, outcome = ?3, usage = coalesce(?4, usage), finished = ?5, wake = NULL WHERE id = ?1";
    tx.execute(sql, params![id, outcome.state(), Json(outcome), usage.map(Json), Millis(now)])?;
    let number = tx.query_row("SELECT run FROM journal_runs WHERE id = ?", [id], |row| row.get(0)).optional()?;
    number.map_or(Ok(()), |number| promises::withdraw_all(tx, number))
}
