//! Conversations, with their stored state.

use std::sync::Arc;

use jiff::Timestamp;
use llm_do_core::session::runtime::ChatState;
use rusqlite::{OptionalExtension, Row, params};

use super::{Json, Millis, Store, StoreError};

/// A chat as stored.
#[derive(Clone, Debug)]
pub(crate) struct ChatRow {
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) entry: String,
    pub(crate) state: ChatState,
    pub(crate) created: Timestamp,
    pub(crate) updated: Timestamp,
}

impl ChatRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            tenant: row.get("tenant")?,
            entry: row.get("entry")?,
            state: row.get::<_, Json<_>>("state")?.0,
            created: row.get::<_, Millis>("created")?.0,
            updated: row.get::<_, Millis>("updated")?.0,
        })
    }
}

impl Store {
    /// Adds a chat with an empty state.
    pub(crate) async fn insert_chat(
        &self,
        id: String,
        tenant: Arc<str>,
        entry: String,
        now: Timestamp,
    ) -> Result<ChatRow, StoreError> {
        let sql = "INSERT INTO chats (id, tenant, entry, state, created, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?5) RETURNING *";
        self.database
            .write(move |tx| {
                let values = params![id, &*tenant, entry, Json(ChatState::new()), Millis(now)];
                tx.query_row(sql, values, ChatRow::read)
            })
            .await
    }

    pub(crate) async fn chat(&self, id: &str) -> Result<Option<ChatRow>, StoreError> {
        let id = id.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            connection.query_row("SELECT * FROM chats WHERE id = ?", [id], ChatRow::read).optional()
        };
        self.database.read(read).await
    }

    /// Deletes chats whose last message finished before `before`; returns their number.
    pub(crate) async fn expire_chats(&self, before: Timestamp, limit: u32) -> Result<usize, StoreError> {
        let sql = "DELETE FROM chats WHERE id IN (SELECT id FROM chats WHERE updated < ?1
                   AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.chat = chats.id AND runs.finished IS NULL) LIMIT ?2)";
        self.database.write(move |tx| tx.execute(sql, params![Millis(before), limit])).await
    }

    /// Lists chats, the latest first, with their usage, and without their state.
    pub(crate) async fn chats(&self, tenant: Option<Arc<str>>, limit: u32) -> Result<Vec<ChatRow>, StoreError> {
        // Without a separate condition, SQLite could not use the index.
        let condition = if tenant.is_some() { "tenant = ?2" } else { "?2 IS NULL" };
        let sql = format!(
            "SELECT id, tenant, entry, created, updated, json_object('usage', json_extract(state, '$.usage')) AS state
             FROM chats WHERE {condition} ORDER BY updated DESC, id LIMIT ?1"
        );
        self.database
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let chats = statement.query_map((limit, tenant.as_deref()), ChatRow::read)?;
                chats.collect()
            })
            .await
    }
}
