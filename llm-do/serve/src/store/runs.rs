//! The runs of a service, as stored.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::journal::delete_run;
use llm_do_providers::Money;
use rusqlite::{OptionalExtension, Row, ToSql, params, params_from_iter};
use serde_json::Value;

use super::page::Page;
use super::queue::number;
use super::run_state::{Outcome, RunState, Source};
use super::{Json, Millis, Store, StoreError};

/// The columns that [`RunRow`] is read from.
const COLUMNS: &str = "
    id, tenant, client, source, entry, arguments, chat, cost_limit, state, outcome, usage, created, started, finished, wake,
    attempts, deaths, worked, is_cancelled, counted, version,
    (SELECT owner FROM journal_runs AS claim WHERE claim.id = runs.id) AS process,
    (SELECT expires FROM journal_runs AS claim WHERE claim.id = runs.id) AS process_until,
    state = 'running' AND EXISTS (SELECT 1 FROM waits WHERE waits.run = runs.id AND waits.answer IS NULL
        AND waits.is_withdrawn = 0 AND waits.is_current) AS is_asking";

/// Running runs that have asked a person, by which they are shown as waiting.
const ASKING: &str = "SELECT id FROM runs AS asking WHERE state = 'running' AND EXISTS (SELECT 1 FROM waits
    WHERE waits.run = asking.id AND waits.answer IS NULL AND waits.is_withdrawn = 0 AND waits.is_current)";

/// A run as stored.
#[derive(Clone, Debug)]
pub(crate) struct RunRow {
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) client: String,
    pub(crate) source: Source,
    pub(crate) entry: String,
    pub(crate) arguments: Value,
    pub(crate) chat: Option<String>,
    pub(crate) cost_limit: Option<Money>,
    /// The state for the engine: a run that has just asked a person is running, until it is suspended.
    pub(crate) state: RunState,
    /// Whether the run has an unanswered question, although it is running.
    is_asking: bool,
    /// The process that has claimed it, and the end of the claim.
    pub(crate) process: Option<String>,
    pub(crate) process_until: Option<Timestamp>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) usage: RunUsage,
    pub(crate) created: Timestamp,
    pub(crate) started: Option<Timestamp>,
    pub(crate) finished: Option<Timestamp>,
    pub(crate) wake: Option<Timestamp>,
    pub(crate) attempts: u64,
    /// The number of processes that died in it since its last recorded finished effect.
    pub(crate) deaths: u32,
    /// The time that processes worked on it.
    pub(crate) worked: Duration,
    pub(crate) is_cancelled: bool,
    /// The usage when it last ended.
    pub(crate) counted: RunUsage,
    /// The version of the program that accepted it; `None` for runs of earlier versions of this crate.
    pub(crate) version: Option<String>,
}

/// What a list of runs contains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// Whose runs the client may see.
    pub(crate) scope: Option<Arc<str>>,
    pub(crate) tenant: Option<String>,
    pub(crate) state: Option<RunState>,
    pub(crate) entry: Option<String>,
    pub(crate) chat: Option<String>,
    /// Only runs that are older than this one.
    pub(crate) before: Option<String>,
    /// Only runs that were started at this time or later.
    pub(crate) since: Option<Timestamp>,
    /// Only runs that were started before this time.
    pub(crate) until: Option<Timestamp>,
    /// Only runs that a program of this version accepted.
    pub(crate) version: Option<String>,
    pub(crate) limit: u32,
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
            is_asking: row.get("is_asking")?,
            process: row.get("process")?,
            process_until: time("process_until")?,
            outcome: row.get::<_, Option<Json<_>>>("outcome")?.map(|Json(outcome)| outcome),
            usage: row.get::<_, Option<Json<_>>>("usage")?.map(|Json(usage)| usage).unwrap_or_default(),
            created: row.get::<_, Millis>("created")?.0,
            started: time("started")?,
            finished: time("finished")?,
            wake: time("wake")?,
            attempts: row.get("attempts")?,
            deaths: row.get("deaths")?,
            worked: Duration::from_millis(row.get("worked")?),
            is_cancelled: row.get("is_cancelled")?,
            counted: row.get::<_, Option<Json<_>>>("counted")?.map(|Json(usage)| usage).unwrap_or_default(),
            version: row.get("version")?,
        })
    }
}

impl RunRow {
    /// Returns the state for people: a run waits from the moment at which it asks.
    pub(crate) fn shown_state(&self) -> RunState {
        if self.is_asking { RunState::Waiting } else { self.state }
    }
}

pub(super) fn find(connection: &rusqlite::Connection, id: &str) -> rusqlite::Result<Option<RunRow>> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?");
    connection.prepare_cached(&sql)?.query_row([id], RunRow::read).optional()
}

impl Store {
    pub(crate) async fn run(&self, id: &str) -> Result<Option<RunRow>, StoreError> {
        let id = id.to_owned();
        self.database.read(move |connection| find(connection, &id)).await
    }

    /// Returns the state of a run without reading its other columns.
    pub(crate) async fn state(&self, id: &str) -> Result<Option<RunState>, StoreError> {
        let id = id.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached("SELECT state FROM runs WHERE id = ?")?;
            statement.query_row([id], |row| row.get(0)).optional()
        };
        self.database.read(read).await
    }

    /// Lists runs, the latest first.
    pub(crate) async fn runs(&self, filter: Filter) -> Result<Page<RunRow>, StoreError> {
        self.database.read(move |connection| list(connection, &filter)).await
    }

    /// Returns the number of runs in each state.
    pub(crate) async fn counts(&self) -> Result<Vec<(RunState, u64)>, StoreError> {
        let sql = "SELECT state, count(*) FROM runs GROUP BY state";
        self.database
            .read(move |connection| {
                let mut statement = connection.prepare_cached(sql)?;
                let counts = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                counts.collect()
            })
            .await
    }

    /// Deletes runs that finished before `before`, with all of their data; returns their number.
    pub(crate) async fn expire(&self, before: Timestamp, limit: u32) -> Result<usize, StoreError> {
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
                    tx.execute("DELETE FROM messages WHERE run = ?", [id])?;
                    tx.execute("DELETE FROM runs WHERE id = ?", [id])?;
                    number(tx, id)?.map_or(Ok(()), |number| delete_run(tx, number))?;
                }
                Ok(ids.len())
            })
            .await
    }
}

/// Only given conditions are in the statement, since otherwise SQLite could not use an index.
pub(super) fn list(connection: &rusqlite::Connection, filter: &Filter) -> rusqlite::Result<Page<RunRow>> {
    let (since, until) = (filter.since.map(Millis), filter.until.map(Millis));
    let in_state = match filter.state {
        Some(RunState::Waiting) => format!("id IN (SELECT id FROM runs WHERE state = ? UNION ALL {ASKING})"),
        Some(RunState::Running) => format!("state = ? AND id NOT IN ({ASKING})"),
        _ => "state = ?".to_owned(),
    };
    let conditions: [Option<(&str, &dyn ToSql)>; 9] = [
        filter.scope.as_ref().map(|scope| ("tenant = ?", scope as _)),
        filter.tenant.as_ref().map(|tenant| ("tenant = ?", tenant as _)),
        filter.state.as_ref().map(|state| (in_state.as_str(), state as _)),
        filter.entry.as_ref().map(|entry| ("entry = ?", entry as _)),
        filter.chat.as_ref().map(|chat| ("chat = ?", chat as _)),
        filter.before.as_ref().map(|before| ("id < ?", before as _)),
        since.as_ref().map(|since| ("created >= ?", since as _)),
        until.as_ref().map(|until| ("created < ?", until as _)),
        filter.version.as_ref().map(|version| ("version = ?", version as _)),
    ];
    let conditions: Vec<_> = conditions.into_iter().flatten().collect();
    let texts = conditions.iter().map(|(text, _)| format!("AND {text} "));
    let sql = format!(
        "SELECT {COLUMNS}, octet_length(arguments) + coalesce(octet_length(outcome), 0) AS size FROM runs
         WHERE TRUE {} ORDER BY id DESC LIMIT {}",
        texts.collect::<String>(),
        filter.limit
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query(params_from_iter(conditions.iter().map(|(_, value)| value)))?;
    Page::read(rows, filter.limit, RunRow::read)
}
