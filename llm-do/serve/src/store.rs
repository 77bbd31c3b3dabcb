//! The tables of a service: its runs, their waits and events, its chats and schedules.

mod changes;
mod chats;
mod events;
mod file;
mod messages;
mod new_run;
mod page;
mod queue;
mod resume;
mod run_state;
mod runs;
mod schedules;
mod usage;
mod waits;

use jiff::Timestamp;
use llm_do_core::observe::database::{Component, Database, DatabaseError};
use rusqlite::Transaction;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use self::changes::{Changed, Changes};
pub(super) use self::chats::ChatRow;
pub(super) use self::events::StoredEvent;
pub(super) use self::file::StoreFile;
pub(super) use self::messages::{MAX_MESSAGES, MessageInserted, MessageRow, NewMessage};
pub(super) use self::new_run::{Inserted, NewRun, QuotaReached};
pub(super) use self::page::Page;
pub(super) use self::queue::Cancelling;
pub(super) use self::resume::Resuming;
pub use self::run_state::RunState;
pub(super) use self::run_state::{Outcome, Source};
pub(super) use self::runs::{Filter, RunRow};
use self::schedules::BegunSchedules;
pub(super) use self::waits::{AnswerOutcome, Wait, WaitFilter, WaitKind};

/// The error of reading or writing the database of a service.
pub(super) type StoreError = DatabaseError;

/// The tables of the service.
static COMPONENT: Component = Component { name: "service", migrations: &[TABLES, messages::TABLES, VERSION] };

/// The first version.
const TABLES: &str = "
CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    client TEXT NOT NULL,
    source TEXT NOT NULL,
    entry TEXT NOT NULL,
    idempotency_key TEXT,
    chat TEXT,
    cost_limit TEXT,
    state TEXT NOT NULL,
    usage TEXT,
    -- What it had used when it last ended, which the figures contain already if it is resumed.
    counted TEXT,
    created INTEGER NOT NULL,
    -- When it was started or resumed on the day whose money it spends, and what it had cost before.
    admitted INTEGER NOT NULL,
    cost_before TEXT,
    started INTEGER,
    finished INTEGER,
    wake INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- How many processes died in it since it last recorded a finished effect, and the number of that record.
    deaths INTEGER NOT NULL DEFAULT 0,
    last_effect INTEGER NOT NULL DEFAULT 0,
    -- How long processes worked on it, in milliseconds.
    worked INTEGER NOT NULL DEFAULT 0,
    is_cancelled INTEGER NOT NULL DEFAULT 0,
    -- What may be long is last, so that the rest is read without it.
    arguments TEXT NOT NULL,
    outcome TEXT
);
CREATE UNIQUE INDEX runs_by_idempotency_key ON runs (tenant, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX runs_by_state ON runs (state, id);
CREATE INDEX waiting_runs ON runs (wake) WHERE wake IS NOT NULL;
CREATE INDEX runs_by_tenant ON runs (tenant, id);
CREATE INDEX runs_by_admission ON runs (tenant, admitted);
CREATE INDEX runs_by_chat ON runs (chat, id) WHERE chat IS NOT NULL;
CREATE INDEX runs_by_end ON runs (finished) WHERE finished IS NOT NULL;
CREATE INDEX runs_to_cancel ON runs (id) WHERE is_cancelled = 1 AND finished IS NULL;
CREATE INDEX unfinished_runs ON runs (tenant) WHERE finished IS NULL;
-- What the journal stores of approvals and questions; is_current: the present attempt of the run asks it.
CREATE VIEW waits AS SELECT
    promise.id, journal_run.id AS run, promise.run AS number, promise.key, promise.kind, promise.request, promise.digest,
    promise.created, promise.answer, promise.answered_by, promise.answered, promise.is_withdrawn,
    promise.fence = journal_run.fence AS is_current
FROM journal_promises AS promise JOIN journal_runs AS journal_run ON journal_run.run = promise.run;
CREATE TABLE events (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE chats (
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    entry TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    state TEXT NOT NULL
);
CREATE INDEX chats_by_tenant ON chats (tenant, updated);
CREATE INDEX chats_by_update ON chats (updated);
-- Written again and again, to see whether the file can be written.
CREATE TABLE heartbeat (
    id INTEGER PRIMARY KEY,
    time INTEGER NOT NULL
);
CREATE TABLE schedules (
    name TEXT NOT NULL,
    -- The expression and the time zone: after a change of them, times count from then on.
    rule TEXT NOT NULL,
    last INTEGER NOT NULL,
    -- The highest of a schedule is that of the rule with which a process began last.
    revision INTEGER NOT NULL,
    PRIMARY KEY (name, rule)
) WITHOUT ROWID;
";

/// The version of the program that accepted a run.
const VERSION: &str = "
ALTER TABLE runs ADD COLUMN version TEXT;
";

/// The tables of a service. Clones share the file.
#[derive(Clone, Debug)]
pub(super) struct Store {
    database: Database,
    changes: Changes,
    schedules: BegunSchedules,
}

impl Store {
    pub(super) fn new(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT)?;
        Ok(Self { database, changes: Changes::default(), schedules: BegunSchedules::default() })
    }

    /// Returns a receiver that is notified once runs may be started, resumed or cancelled.
    pub(super) fn queue_changes(&self) -> watch::Receiver<()> {
        self.changes.queue()
    }

    /// Returns a receiver that is notified once a run has new events or another state.
    pub(super) fn run_changes(&self, run: &str) -> watch::Receiver<()> {
        self.changes.run(run)
    }

    /// Wakes the engine to look for runs that can be started.
    pub(super) fn notify_queue(&self) {
        self.changes.notify(&Changed::Queue);
    }

    /// Makes a change, and sends the notifications once it is committed, even if the future is dropped, since the
    /// client of the request may have disconnected.
    async fn change<T, F>(&self, changed: Changed, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let waiting = self.changes.clone();
        let note = move |made: &Result<T, _>| {
            if made.is_ok() {
                waiting.notify(&changed);
            }
        };
        self.database.write_noting(change, note).await
    }

    /// Returns the space of deleted rows to the file system.
    pub(super) async fn shrink(&self) -> Result<(), StoreError> {
        self.database.shrink().await
    }

    /// Checks that the file can be written.
    pub(super) async fn beat(&self, now: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO heartbeat (id, time) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET time = ?1";
        self.database.write(move |tx| tx.execute(sql, [Millis(now)])).await.map(drop)
    }

    /// Checks that the file can be read.
    pub(super) async fn check(&self) -> Result<(), StoreError> {
        self.database.read(|connection| connection.query_row("SELECT count(*) FROM schedules", [], |_| Ok(()))).await
    }

    /// Sends notifications if any process has written since the last call; `seen` is the version at that time.
    pub(super) async fn notify_of_other_processes(&self, seen: &mut i64) -> Result<(), StoreError> {
        let version = self.database.version().await?;
        // Writes of this process have sent notifications already; a second one is harmless.
        if std::mem::replace(seen, version) != version {
            self.changes.notify(&Changed::All);
        }
        Ok(())
    }
}

/// A time as a column: milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Millis(Timestamp);

impl ToSql for Millis {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_millisecond().into())
    }
}

impl FromSql for Millis {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let millis = i64::column_result(value)?;
        Timestamp::from_millisecond(millis).map(Self).map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A value as a column: JSON.
#[derive(Clone, Debug)]
struct Json<T>(T);

impl<T: serde::Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text =
            serde_json::to_string(&self.0).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        Ok(text.into())
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(|error| FromSqlError::Other(error.into()))
    }
}

#[cfg(test)]
mod tests;
