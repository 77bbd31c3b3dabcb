//! Messages to runs, kept until the run is deleted: a worker may take one in any process.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};

use super::changes::Changed;
use super::runs::find;
use super::{Json, Millis, Store, StoreError};
use crate::observe::journal::{StepKind, read_values};
use crate::plane::mailbox::RunMessage;

/// The table. Numbers of deleted messages are not used again: a process counts from the last one that it has seen.
pub(super) const TABLES: &str = "
CREATE TABLE messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    tenant TEXT NOT NULL,
    client TEXT NOT NULL,
    idempotency_key TEXT,
    created INTEGER NOT NULL,
    message TEXT NOT NULL
);
CREATE INDEX messages_by_run ON messages (run, number);
CREATE UNIQUE INDEX messages_by_idempotency_key ON messages (tenant, idempotency_key) WHERE idempotency_key IS NOT NULL;
";

/// The maximum number of messages to one run.
pub(in crate::app::serve) const MAX_MESSAGES: u32 = 1000;

/// A message to be stored.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct NewMessage {
    pub(in crate::app::serve) run: String,
    pub(in crate::app::serve) tenant: Arc<str>,
    pub(in crate::app::serve) client: Arc<str>,
    pub(in crate::app::serve) idempotency_key: Option<String>,
    pub(in crate::app::serve) message: RunMessage,
    pub(in crate::app::serve) now: Timestamp,
}

/// A message to a run, as stored.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct MessageRow {
    pub(in crate::app::serve) number: i64,
    pub(in crate::app::serve) run: String,
    pub(in crate::app::serve) client: String,
    pub(in crate::app::serve) message: RunMessage,
    pub(in crate::app::serve) created: Timestamp,
}

/// Whether a message was stored.
#[derive(Debug)]
pub(in crate::app::serve) enum MessageInserted {
    /// Under this number.
    New(i64),
    /// A message with its key exists.
    Existing,
    /// The run has ended.
    Finished,
    /// The run has too many messages.
    Full,
}

impl MessageRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            number: row.get("number")?,
            run: row.get("run")?,
            client: row.get("client")?,
            message: row.get::<_, Json<_>>("message")?.0,
            created: row.get::<_, Millis>("created")?.0,
        })
    }
}

fn insert(tx: &Transaction<'_>, new: &NewMessage) -> rusqlite::Result<MessageInserted> {
    if let Some(key) = &new.idempotency_key
        && run_of_key(tx, &new.tenant, key)?.is_some()
    {
        return Ok(MessageInserted::Existing);
    }
    if find(tx, &new.run)?.is_none_or(|run| run.state.is_finished() || run.is_cancelled) {
        return Ok(MessageInserted::Finished);
    }
    let sql = "SELECT count(*) FROM messages WHERE run = ?";
    let count: u32 = tx.prepare_cached(sql)?.query_row([&new.run], |row| row.get(0))?;
    if count >= MAX_MESSAGES {
        return Ok(MessageInserted::Full);
    }
    let sql = "INSERT INTO messages (run, tenant, client, idempotency_key, created, message)
               VALUES (:run, :tenant, :client, :key, :created, :message)";
    tx.execute(
        sql,
        named_params! {
            ":run": new.run, ":tenant": &*new.tenant, ":client": &*new.client, ":key": new.idempotency_key,
            ":created": Millis(new.now), ":message": Json(&new.message),
        },
    )?;
    Ok(MessageInserted::New(tx.last_insert_rowid()))
}

/// Returns the run of the message with this key.
fn run_of_key(connection: &rusqlite::Connection, tenant: &str, key: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT run FROM messages WHERE tenant = ? AND idempotency_key = ?";
    connection.prepare_cached(sql)?.query_row([tenant, key], |row| row.get(0)).optional()
}

impl Store {
    /// Adds a message, unless its key is known or its run has ended.
    pub(in crate::app::serve) async fn insert_message(&self, new: NewMessage) -> Result<MessageInserted, StoreError> {
        self.change(Changed::Queue, move |tx| insert(tx, &new)).await
    }

    /// Deletes a message that its run did not take.
    pub(in crate::app::serve) async fn delete_message(&self, number: i64) -> Result<(), StoreError> {
        self.database.write(move |tx| tx.execute("DELETE FROM messages WHERE number = ?", [number])).await.map(drop)
    }

    /// Returns the run of the message with this key.
    pub(in crate::app::serve) async fn run_of_message(
        &self,
        tenant: Arc<str>,
        key: String,
    ) -> Result<Option<String>, StoreError> {
        self.database.read(move |connection| run_of_key(connection, &tenant, &key)).await
    }

    /// Returns the messages to a run, the oldest first.
    pub(in crate::app::serve) async fn messages_of(&self, run: &str) -> Result<Vec<MessageRow>, StoreError> {
        let run = run.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached("SELECT * FROM messages WHERE run = ? ORDER BY number")?;
            statement.query_map([run], MessageRow::read)?.collect()
        };
        self.database.read(read).await
    }

    /// Returns the ids of the messages that have joined the conversation of a worker, as the journal has them.
    pub(in crate::app::serve) async fn joined_messages(&self, run: &str) -> Result<HashSet<Arc<str>>, StoreError> {
        let run = run.to_owned();
        let values = self.database.read(move |connection| read_values(connection, &run, StepKind::Message)).await?;
        let messages = values.into_iter().filter_map(|value| serde_json::from_value::<Vec<RunMessage>>(value).ok());
        Ok(messages.flatten().filter_map(|message| message.id().cloned()).collect())
    }

    /// Returns the messages after this number, the oldest first: to any run.
    pub(in crate::app::serve) async fn messages_after(&self, number: i64) -> Result<Vec<MessageRow>, StoreError> {
        let read = move |connection: &rusqlite::Connection| {
            let sql = "SELECT * FROM messages WHERE number > ? ORDER BY number LIMIT 500";
            connection.prepare_cached(sql)?.query_map([number], MessageRow::read)?.collect()
        };
        self.database.read(read).await
    }

    /// Returns the number of the last message; 0 without a message.
    pub(in crate::app::serve) async fn last_message(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(number), 0) FROM messages";
        self.database.read(move |connection| connection.query_row(sql, params![], |row| row.get(0))).await
    }
}
