//! What runs wait for: approvals and questions, stored before anybody is asked.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{Json, Millis, Store, StoreError, Topic};

/// The columns that [`Wait`] is read from.
const COLUMNS: &str = "waits.id, waits.run, runs.tenant, runs.entry, waits.kind, waits.request, waits.digest, waits.created, \
                       waits.answer, waits.answered_by, waits.answered, waits.is_withdrawn";

/// What a run waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
pub(in crate::app::serve) enum WaitKind {
    /// A decision about a call.
    Approval,
    /// An answer to a question.
    Question,
}

impl WaitKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            Self::Question => "question",
        }
    }
}

impl ToSql for WaitKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for WaitKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "approval" => Ok(Self::Approval),
            "question" => Ok(Self::Question),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// What a run asks.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct Asked {
    pub(in crate::app::serve) run: String,
    /// The 1-based number of the run's attempt.
    pub(in crate::app::serve) attempt: u64,
    /// The same each time the run asks it, in every process.
    pub(in crate::app::serve) key: String,
    pub(in crate::app::serve) kind: WaitKind,
    /// What a person sees.
    pub(in crate::app::serve) request: Value,
    /// The digest of `request`.
    pub(in crate::app::serve) digest: String,
    /// Whether the last answer was invalid, so that it is requested again.
    pub(in crate::app::serve) is_repeated: bool,
    pub(in crate::app::serve) now: Timestamp,
}

/// Something that a run waits for, as stored.
#[derive(Clone, Debug)]
pub(in crate::app::serve) struct Wait {
    pub(in crate::app::serve) id: String,
    pub(in crate::app::serve) run: String,
    pub(in crate::app::serve) tenant: String,
    pub(in crate::app::serve) entry: String,
    pub(in crate::app::serve) kind: WaitKind,
    pub(in crate::app::serve) request: Value,
    pub(in crate::app::serve) digest: String,
    pub(in crate::app::serve) created: Timestamp,
    pub(in crate::app::serve) answer: Option<Value>,
    pub(in crate::app::serve) answered_by: Option<String>,
    pub(in crate::app::serve) answered: Option<Timestamp>,
    pub(in crate::app::serve) is_withdrawn: bool,
}

/// What became of an answer.
#[derive(Debug)]
pub(in crate::app::serve) enum Decided {
    Done,
    /// Another answer was first.
    AlreadyAnswered(Wait),
    /// The person saw something else than what is asked now.
    Stale(Wait),
    /// The run no longer waits for it.
    Withdrawn,
    Unknown,
}

impl Wait {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            run: row.get("run")?,
            tenant: row.get("tenant")?,
            entry: row.get("entry")?,
            kind: row.get("kind")?,
            request: row.get::<_, Json<_>>("request")?.0,
            digest: row.get("digest")?,
            created: row.get::<_, Millis>("created")?.0,
            answer: row.get::<_, Option<Json<_>>>("answer")?.map(|Json(answer)| answer),
            answered_by: row.get("answered_by")?,
            answered: row.get::<_, Option<Millis>>("answered")?.map(|Millis(time)| time),
            is_withdrawn: row.get("is_withdrawn")?,
        })
    }
}

fn find(connection: &rusqlite::Connection, id: &str) -> rusqlite::Result<Option<Wait>> {
    let sql = format!("SELECT {COLUMNS} FROM waits JOIN runs ON runs.id = waits.run WHERE waits.id = ?");
    connection.prepare_cached(&sql)?.query_row([id], Wait::read).optional()
}

impl Store {
    /// Stores what a run asks, before anybody sees it. Returns its id, and the answer if there is one already.
    pub(in crate::app::serve) async fn ask(&self, asked: Asked) -> Result<(String, Option<Value>), StoreError> {
        self.database.write(move |tx| ask(tx, &asked)).await
    }

    /// Returns the answer, once there is one.
    pub(in crate::app::serve) async fn answer_of(&self, id: &str) -> Result<Option<Value>, StoreError> {
        let id = id.to_owned();
        self.database.read(move |connection| answer(connection, &id)).await
    }

    /// Returns the keys of all that a run has asked.
    pub(in crate::app::serve) async fn asked_keys(&self, run: &str) -> Result<Vec<String>, StoreError> {
        let run = run.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached("SELECT key FROM waits WHERE run = ?")?;
            let keys = statement.query_map([run], |row| row.get(0))?;
            keys.collect()
        };
        self.database.read(read).await
    }

    /// Withdraws what a run no longer waits for.
    pub(in crate::app::serve) async fn withdraw(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        let sql = "UPDATE waits SET is_withdrawn = 1 WHERE id = ? AND answer IS NULL";
        self.database.write(move |tx| tx.execute(sql, [id])).await.map(drop)
    }

    /// Records the answer of a person, and queues the run if no process runs it. The first answer holds.
    pub(in crate::app::serve) async fn answer(
        &self,
        id: &str,
        scope: Option<Arc<str>>,
        (kind, digest): (WaitKind, String),
        answer: Value,
        (by, now): (Arc<str>, Timestamp),
    ) -> Result<Decided, StoreError> {
        let id = id.to_owned();
        let decided = self.database.write(move |tx| {
            let visible = |wait: &Wait| wait.kind == kind && scope.is_none_or(|tenant| *tenant == *wait.tenant);
            let Some(wait) = find(tx, &id)?.filter(visible) else { return Ok(Decided::Unknown) };
            if wait.answer.is_some() {
                return Ok(Decided::AlreadyAnswered(wait));
            }
            if wait.is_withdrawn {
                return Ok(Decided::Withdrawn);
            }
            if wait.digest != digest {
                return Ok(Decided::Stale(wait));
            }
            let sql = "UPDATE waits SET answer = ?2, answered_by = ?3, answered = ?4 WHERE id = ?1";
            tx.execute(sql, params![id, Json(answer), &*by, Millis(now)])?;
            let sql = "UPDATE runs SET state = 'queued', wake = NULL WHERE id = ? AND state = 'waiting'";
            tx.execute(sql, [&wait.run])?;
            Ok(Decided::Done)
        });
        let decided = decided.await?;
        self.notify(&[Topic::Answers, Topic::Queue, Topic::Progress]);
        Ok(decided)
    }

    pub(in crate::app::serve) async fn wait(&self, id: &str) -> Result<Option<Wait>, StoreError> {
        let id = id.to_owned();
        self.database.read(move |connection| find(connection, &id)).await
    }

    /// Lists what waits for an answer, the oldest first; with `run`, also what was answered.
    pub(in crate::app::serve) async fn waits(
        &self,
        tenant: Option<Arc<str>>,
        kind: Option<WaitKind>,
        run: Option<String>,
        limit: u32,
    ) -> Result<Vec<Wait>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM waits JOIN runs ON runs.id = waits.run
             WHERE (:tenant IS NULL OR runs.tenant = :tenant) AND (:kind IS NULL OR waits.kind = :kind)
             AND CASE WHEN :run IS NULL THEN waits.answer IS NULL AND waits.is_withdrawn = 0 ELSE waits.run = :run END
             ORDER BY waits.created, waits.id LIMIT :limit"
        );
        self.database
            .read(move |connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let tenant = tenant.as_deref();
                let values = named_params! { ":tenant": tenant, ":kind": kind, ":run": run, ":limit": limit };
                let waits = statement.query_map(values, Wait::read)?;
                waits.collect()
            })
            .await
    }

    /// Returns how many approvals and questions wait for an answer.
    pub(in crate::app::serve) async fn open_waits(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM waits WHERE answer IS NULL AND is_withdrawn = 0";
        self.database.read(move |connection| connection.query_row(sql, [], |row| row.get(0))).await
    }
}

fn answer(connection: &rusqlite::Connection, id: &str) -> rusqlite::Result<Option<Value>> {
    let sql = "SELECT answer FROM waits WHERE id = ?";
    let answer =
        connection.prepare_cached(sql)?.query_row([id], |row| row.get::<_, Option<Json<Value>>>(0)).optional()?;
    Ok(answer.flatten().map(|Json(answer)| answer))
}

fn ask(tx: &Transaction<'_>, asked: &Asked) -> rusqlite::Result<(String, Option<Value>)> {
    let Asked { run, attempt, key, kind, request, digest, is_repeated, now } = asked;
    let sql = "SELECT id, answer FROM waits WHERE run = ? AND key = ?";
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Option<Json<Value>>>(1)?));
    let known = tx.query_row(sql, params![run, key], read).optional()?;
    match known {
        Some((id, Some(Json(answer)))) if !is_repeated => {
            tx.execute("UPDATE waits SET attempt = ?2 WHERE id = ?1", params![id, attempt])?;
            Ok((id, Some(answer)))
        }
        Some((id, _)) => {
            let sql = "UPDATE waits SET request = ?2, digest = ?3, answer = NULL, answered_by = NULL, answered = NULL,
                       attempt = ?4, is_withdrawn = 0 WHERE id = ?1";
            tx.execute(sql, params![id, Json(request), digest, attempt])?;
            Ok((id, None))
        }
        None => {
            let id = Uuid::new_v4().to_string();
            let sql = "INSERT INTO waits (id, run, key, kind, request, digest, created, attempt)
                       VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
            tx.execute(sql, params![id, run, key, kind, Json(request), digest, Millis(*now), attempt])?;
            Ok((id, None))
        }
    }
}
