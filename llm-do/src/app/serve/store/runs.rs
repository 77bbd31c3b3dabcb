//! The runs of a service.

use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use llm_do_providers::Money;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, Params, Row, Transaction, named_params, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Json, Millis, Store, StoreError, Topic};
use crate::app::serve::client::Quota;
use crate::base::usage::RunUsage;

/// The columns that [`RunRow`] is read from.
const COLUMNS: &str = "id, tenant, client, source, entry, arguments, chat, cost_limit, state, outcome, usage, created, started, \
                       finished, wake, attempts, is_cancelled";

/// Where a run is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
pub(in crate::app::serve) enum RunState {
    /// It waits for a process to start or resume it.
    Queued,
    /// A process runs it.
    Running,
    /// It waits for a decision, an answer or a time, and takes no memory.
    Waiting,
    /// It returned a result.
    Succeeded,
    /// It returned an error; it can be resumed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunState {
    pub(in crate::app::serve) const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Waiting, Self::Succeeded, Self::Failed, Self::Cancelled];

    pub(in crate::app::serve) fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(in crate::app::serve) fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

impl FromStr for RunState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(())
    }
}

impl ToSql for RunState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for RunState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map_err(|()| FromSqlError::InvalidType)
    }
}

/// What started a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
pub(in crate::app::serve) enum Source {
    /// A request of a client.
    Client,
    /// A schedule.
    Schedule {
        /// Its name.
        name: String,
    },
    /// A webhook.
    Webhook {
        /// Its name.
        name: String,
    },
}

/// A run to be started.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct NewRun {
    pub(in crate::app::serve) id: String,
    pub(in crate::app::serve) tenant: Arc<str>,
    pub(in crate::app::serve) client: Arc<str>,
    pub(in crate::app::serve) quota: Quota,
    pub(in crate::app::serve) source: Source,
    pub(in crate::app::serve) entry: String,
    pub(in crate::app::serve) arguments: Value,
    pub(in crate::app::serve) idempotency_key: Option<String>,
    pub(in crate::app::serve) chat: Option<String>,
    pub(in crate::app::serve) now: Timestamp,
}

/// Whether a run was added.
#[derive(Debug)]
pub(in crate::app::serve) enum Inserted {
    New(RunRow),
    /// A run with the same key and the same request exists.
    Existing(RunRow),
    /// A run with the same key and another request exists.
    Conflict(RunRow),
    /// The chat has an unfinished run.
    ChatBusy(String),
    TooManyRuns(u64),
    TooExpensive(Money),
}

/// A run as stored.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct RunRow {
    pub(in crate::app::serve) id: String,
    pub(in crate::app::serve) tenant: String,
    pub(in crate::app::serve) client: String,
    pub(in crate::app::serve) source: Source,
    pub(in crate::app::serve) entry: String,
    pub(in crate::app::serve) arguments: Value,
    pub(in crate::app::serve) chat: Option<String>,
    pub(in crate::app::serve) cost_limit: Option<Money>,
    pub(in crate::app::serve) state: RunState,
    pub(in crate::app::serve) outcome: Option<Outcome>,
    pub(in crate::app::serve) usage: RunUsage,
    pub(in crate::app::serve) created: Timestamp,
    pub(in crate::app::serve) started: Option<Timestamp>,
    pub(in crate::app::serve) finished: Option<Timestamp>,
    pub(in crate::app::serve) wake: Option<Timestamp>,
    pub(in crate::app::serve) attempts: u64,
    pub(in crate::app::serve) is_cancelled: bool,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::app::serve) enum Outcome {
    Result(Value),
    Error(String),
    Cancelled,
}

impl Outcome {
    pub(in crate::app::serve) fn state(&self) -> RunState {
        match self {
            Self::Result(_) => RunState::Succeeded,
            Self::Error(_) => RunState::Failed,
            Self::Cancelled => RunState::Cancelled,
        }
    }
}

/// A run that this process is to drive.
#[derive(Debug)]
pub(in crate::app::serve) struct Claimed(pub(in crate::app::serve) RunRow);

/// What a list of runs contains.
#[derive(Clone, Debug, Default)]
pub(in crate::app::serve) struct Filter {
    pub(in crate::app::serve) tenant: Option<Arc<str>>,
    pub(in crate::app::serve) state: Option<RunState>,
    pub(in crate::app::serve) entry: Option<String>,
    pub(in crate::app::serve) chat: Option<String>,
    /// Only runs that are older than this one.
    pub(in crate::app::serve) before: Option<String>,
    pub(in crate::app::serve) limit: u32,
}

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

impl RunRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let time = |name: &str| row.get::<_, Option<Millis>>(name).map(|time| time.map(|Millis(time)| time));
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant")?,
            client: row.get("client")?,
            source: row.get::<_, Json<_>>("source")?.0,
            entry: row.get("entry")?,
            arguments: row.get::<_, Json<_>>("arguments")?.0,
            chat: row.get("chat")?,
            cost_limit: row.get::<_, Option<Json<_>>>("cost_limit")?.map(|Json(limit)| limit),
            state: row.get("state")?,
            outcome: row.get::<_, Option<Json<_>>>("outcome")?.map(|Json(outcome)| outcome),
            usage: row.get::<_, Option<Json<_>>>("usage")?.map(|Json(usage)| usage).unwrap_or_default(),
            created: row.get::<_, Millis>("created")?.0,
            started: time("started")?,
            finished: time("finished")?,
            wake: time("wake")?,
            attempts: row.get("attempts")?,
            is_cancelled: row.get("is_cancelled")?,
        })
    }
}

fn find(connection: &rusqlite::Connection, id: &str) -> rusqlite::Result<Option<RunRow>> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?");
    connection.prepare_cached(&sql)?.query_row([id], RunRow::read).optional()
}

impl Store {
    /// Adds a run, unless its key is known or a quota is used up: all in one transaction.
    pub(in crate::app::serve) async fn insert_run(&self, run: NewRun) -> Result<Inserted, StoreError> {
        let inserted = self.database.write(move |tx| insert(tx, &run)).await?;
        self.notify(&[Topic::Queue]);
        Ok(inserted)
    }

    pub(in crate::app::serve) async fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        let id = id.to_owned();
        self.database.read(move |connection| find(connection, &id)).await
    }

    /// Lists runs, the latest first.
    pub(in crate::app::serve) async fn runs(&self, filter: Filter) -> Result<Vec<RunRow>, StoreError> {
        self.database.read(move |connection| list(connection, &filter)).await
    }

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
    pub(in crate::app::serve) async fn begin(&self, id: &str, now: Timestamp) -> Result<Option<Claimed>, StoreError> {
        let id = id.to_owned();
        let sql =
            "UPDATE runs SET state = 'running', attempts = attempts + 1, started = coalesce(started, ?2), wake = NULL
                   WHERE id = ?1 AND state IN ('queued', 'waiting', 'running')";
        let begun = self.database.write(move |tx| {
            let begun = tx.execute(sql, params![id, Millis(now)])?;
            if begun == 0 { Ok(None) } else { find(tx, &id) }
        });
        let begun = begun.await?;
        self.notify(&[Topic::Progress]);
        Ok(begun.map(Claimed))
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
            let sql = "SELECT waits.key FROM waits JOIN runs ON runs.id = waits.run AND runs.attempts = waits.attempt
                       WHERE waits.run = ? AND waits.answer IS NOT NULL";
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
        let resumed = self.database.write(move |tx| {
            tx.execute("UPDATE waits SET is_withdrawn = 0 WHERE run = ? AND answer IS NULL", [&id])?;
            tx.execute(sql, [&id])
        });
        let resumed = resumed.await?;
        self.notify(&[Topic::Queue, Topic::Progress]);
        Ok(resumed > 0)
    }

    /// Returns how many runs are in each state.
    pub(in crate::app::serve) async fn counts(&self) -> Result<Vec<(RunState, u64)>, StoreError> {
        let sql = "SELECT state, count(*) FROM runs GROUP BY state";
        self.database
            .read(move |connection| {
                let mut statement = connection.prepare_cached(sql)?;
                let counts = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                counts.collect()
            })
            .await
    }

    /// Deletes runs that finished before `before`, with all that belongs to them; returns their ids.
    pub(in crate::app::serve) async fn expire(&self, before: Timestamp, limit: u32) -> Result<Vec<String>, StoreError> {
        self.database
            .write(move |tx| {
                let sql = "SELECT id FROM runs WHERE finished < ?1 LIMIT ?2";
                let ids: Vec<String> = {
                    let mut statement = tx.prepare_cached(sql)?;
                    let ids = statement.query_map(params![Millis(before), limit], |row| row.get(0))?;
                    ids.collect::<Result<_, _>>()?
                };
                for id in &ids {
                    tx.execute("DELETE FROM events WHERE run = ?", [id])?;
                    tx.execute("DELETE FROM waits WHERE run = ?", [id])?;
                    tx.execute("DELETE FROM runs WHERE id = ?", [id])?;
                }
                Ok(ids)
            })
            .await
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
    tx.execute("UPDATE waits SET is_withdrawn = 1 WHERE run = ? AND answer IS NULL", [id])?;
    Ok(())
}

fn insert(tx: &Transaction<'_>, new: &NewRun) -> rusqlite::Result<Inserted> {
    if let Some(key) = &new.idempotency_key {
        let sql = "SELECT id FROM runs WHERE tenant = ? AND idempotency_key = ?";
        let id: Option<String> = tx.query_row(sql, [&*new.tenant, key.as_str()], |row| row.get(0)).optional()?;
        if let Some(existing) = id.map(|id| find(tx, &id)).transpose()?.flatten() {
            let is_equal =
                existing.entry == new.entry && existing.arguments == new.arguments && existing.chat == new.chat;
            return Ok(if is_equal { Inserted::Existing(existing) } else { Inserted::Conflict(existing) });
        }
    }
    if let Some(chat) = &new.chat {
        let sql = "SELECT id FROM runs WHERE chat = ? AND state IN ('queued', 'waiting', 'running')";
        if let Some(run) = tx.query_row(sql, [chat], |row| row.get(0)).optional()? {
            return Ok(Inserted::ChatBusy(run));
        }
    }
    if let Some(limit) = new.quota.runs
        && unfinished(tx, &new.tenant)? >= limit
    {
        return Ok(Inserted::TooManyRuns(limit));
    }
    let mut cost_limit = None;
    if let Some(limit) = new.quota.daily_cost {
        let used = cost_of_day(tx, &new.tenant, new.now)?;
        let left = limit.picodollars().saturating_sub(used.picodollars());
        if left == 0 {
            return Ok(Inserted::TooExpensive(limit));
        }
        cost_limit = Some(Money::from_picodollars(left));
    }
    let sql = "INSERT INTO runs (id, tenant, client, source, entry, arguments, idempotency_key, chat, cost_limit, state, created)
               VALUES (:id, :tenant, :client, :source, :entry, :arguments, :key, :chat, :cost_limit, :state, :created)";
    tx.execute(sql, named_params! {
        ":id": new.id, ":tenant": &*new.tenant, ":client": &*new.client, ":source": Json(&new.source), ":entry": new.entry,
        ":arguments": Json(&new.arguments), ":key": new.idempotency_key, ":chat": new.chat,
        ":cost_limit": cost_limit.map(Json), ":state": RunState::Queued, ":created": Millis(new.now),
    })?;
    find(tx, &new.id)?.map(Inserted::New).ok_or(rusqlite::Error::QueryReturnedNoRows)
}

/// Returns how many runs of a tenant have not finished.
fn unfinished(tx: &Transaction<'_>, tenant: &str) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*) FROM runs WHERE tenant = ? AND state IN ('queued', 'waiting', 'running')";
    tx.query_row(sql, [tenant], |row| row.get(0))
}

/// Returns what the runs of a tenant cost that were created on the day of `now`, in UTC.
fn cost_of_day(tx: &Transaction<'_>, tenant: &str, now: Timestamp) -> rusqlite::Result<Money> {
    let day = now.to_zoned(TimeZone::UTC).start_of_day().map_or(now, |day| day.timestamp());
    let mut statement =
        tx.prepare_cached("SELECT usage FROM runs WHERE tenant = ? AND created >= ? AND usage IS NOT NULL")?;
    let costs = statement.query_map(params![tenant, Millis(day)], |row| row.get::<_, Json<RunUsage>>(0))?;
    costs.map(|usage| usage.map(|Json(usage)| usage.cost.known)).sum()
}

fn list(connection: &rusqlite::Connection, filter: &Filter) -> rusqlite::Result<Vec<RunRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM runs WHERE (:tenant IS NULL OR tenant = :tenant) AND (:state IS NULL OR state = :state)
         AND (:entry IS NULL OR entry = :entry) AND (:chat IS NULL OR chat = :chat) AND (:before IS NULL OR id < :before)
         ORDER BY id DESC LIMIT :limit"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(
        named_params! {
            ":tenant": filter.tenant.as_deref(), ":state": filter.state, ":entry": filter.entry,
            ":chat": filter.chat, ":before": filter.before, ":limit": filter.limit,
        },
        RunRow::read,
    )?;
    rows.collect()
}
