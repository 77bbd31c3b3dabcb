//! The waits of runs for approvals and answers, which the journal stores before a person is asked.

use std::sync::Arc;

use jiff::Timestamp;
use llm_do_core::observe::journal::promises;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{OptionalExtension, Row, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::changes::Changed;
use super::page::Page;
use super::{Json, Millis, Store, StoreError};

/// The columns that [`Wait`] is read from.
const COLUMNS: &str = "waits.id, waits.run, runs.tenant, runs.entry, waits.kind, waits.request, waits.digest, waits.created, \
                       waits.answer, waits.answered_by, waits.answered, waits.is_withdrawn";

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
pub(crate) enum WaitKind {
    /// A decision about a call.
    Approval,
    /// An answer to a question.
    Question,
}

impl WaitKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Approval => "approval",
            // The name of the step's kind in the journal.
            Self::Question => "input",
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
            "input" => Ok(Self::Question),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A stored wait of a run.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) id: String,
    pub(crate) run: String,
    pub(crate) tenant: String,
    pub(crate) entry: String,
    pub(crate) kind: WaitKind,
    pub(crate) request: Value,
    pub(crate) digest: String,
    pub(crate) created: Timestamp,
    pub(crate) answer: Option<Value>,
    pub(crate) answered_by: Option<String>,
    pub(crate) answered: Option<Timestamp>,
    pub(crate) is_withdrawn: bool,
}

/// What a list contains.
#[derive(Clone, Debug)]
pub(crate) struct WaitFilter {
    pub(crate) kind: WaitKind,
    pub(crate) tenant: Option<Arc<str>>,
    /// Only those after this one.
    pub(crate) after: Option<String>,
    pub(crate) limit: u32,
}

/// The result of an answer.
#[derive(Debug)]
pub(crate) enum AnswerOutcome {
    Done,
    /// Another answer was first.
    AlreadyAnswered(Wait),
    /// The person saw a different request than the current one.
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

/// Only given conditions are in the statement, since otherwise SQLite could not use an index.
fn list(connection: &rusqlite::Connection, filter: &WaitFilter) -> rusqlite::Result<Page<Wait>> {
    let WaitFilter { kind, tenant, after, limit } = filter;
    let after_this = "(waits.created, waits.id) > (SELECT created, id FROM journal_promises WHERE id = ?)";
    let conditions = [
        tenant.as_deref().map(|tenant| ("runs.tenant = ?", tenant)),
        after.as_deref().map(|after| (after_this, after)),
    ];
    let conditions: Vec<_> = conditions.into_iter().flatten().collect();
    let texts = conditions.iter().map(|(text, _)| format!("AND {text} "));
    let sql = format!(
        "SELECT {COLUMNS}, octet_length(waits.request) AS size FROM waits JOIN runs ON runs.id = waits.run
         WHERE waits.answer IS NULL AND waits.is_withdrawn = 0 AND waits.kind = ? {}
         ORDER BY waits.created, waits.id LIMIT {limit}",
        texts.collect::<String>()
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let values = std::iter::once(kind.as_str()).chain(conditions.iter().map(|(_, value)| *value));
    Page::read(statement.query(params_from_iter(values))?, *limit, Wait::read)
}

/// Lists the questions of a run, oldest first: up to `limit`, and fewer if they are long. Unanswered ones are
/// preferred.
pub(super) fn of_run(connection: &rusqlite::Connection, run: &str, limit: u32) -> rusqlite::Result<Vec<Wait>> {
    let sql = format!(
        "SELECT {COLUMNS}, octet_length(waits.request) + coalesce(octet_length(waits.answer), 0) AS size
         FROM waits JOIN runs ON runs.id = waits.run WHERE waits.run = ?1
         ORDER BY waits.answer IS NOT NULL OR waits.is_withdrawn, waits.created, waits.id LIMIT ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut waits = Page::read(statement.query((run, limit))?, limit, Wait::read)?.rows;
    waits.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
    Ok(waits)
}

impl Store {
    /// Returns the keys of all questions of a run.
    pub(crate) async fn asked_keys(&self, run: &str) -> Result<Vec<String>, StoreError> {
        let run = run.to_owned();
        let read = move |connection: &rusqlite::Connection| {
            let mut statement = connection.prepare_cached("SELECT key FROM waits WHERE run = ?")?;
            let keys = statement.query_map([run], |row| row.get(0))?;
            keys.collect()
        };
        self.database.read(read).await
    }

    /// Records the answer of a person, and queues the run if no process runs it. The first answer holds.
    pub(crate) async fn answer(
        &self,
        id: &str,
        scope: Option<Arc<str>>,
        (kind, digest): (WaitKind, String),
        answer: Value,
        (by, now): (Arc<str>, Timestamp),
    ) -> Result<AnswerOutcome, StoreError> {
        let id = id.to_owned();
        let decided = self.change(Changed::All, move |tx| {
            let visible = |wait: &Wait| wait.kind == kind && scope.is_none_or(|tenant| *tenant == *wait.tenant);
            let Some(wait) = find(tx, &id)?.filter(visible) else { return Ok(AnswerOutcome::Unknown) };
            if wait.answer.is_some() {
                return Ok(AnswerOutcome::AlreadyAnswered(wait));
            }
            if wait.is_withdrawn {
                return Ok(AnswerOutcome::Withdrawn);
            }
            if wait.digest != digest {
                return Ok(AnswerOutcome::Stale(wait));
            }
            promises::resolve(tx, (&id, &digest), &answer.to_string(), Some(&by), now)?;
            let sql = "UPDATE runs SET state = 'queued', wake = NULL WHERE id = ? AND state = 'waiting'";
            tx.execute(sql, [&wait.run])?;
            Ok(AnswerOutcome::Done)
        });
        decided.await
    }

    pub(crate) async fn wait(&self, id: &str) -> Result<Option<Wait>, StoreError> {
        let id = id.to_owned();
        self.database.read(move |connection| find(connection, &id)).await
    }

    /// Lists the unanswered questions and approvals, oldest first.
    pub(crate) async fn waits(&self, filter: WaitFilter) -> Result<Page<Wait>, StoreError> {
        self.database.read(move |connection| list(connection, &filter)).await
    }

    /// Lists the questions of a run, oldest first; if there are too many, unanswered ones are preferred.
    pub(crate) async fn waits_of(&self, run: &str, limit: u32) -> Result<Vec<Wait>, StoreError> {
        let run = run.to_owned();
        self.database.read(move |connection| of_run(connection, &run, limit)).await
    }

    /// Returns the number of unanswered approvals and questions.
    pub(crate) async fn open_waits(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM waits WHERE answer IS NULL AND is_withdrawn = 0";
        self.database.read(move |connection| connection.query_row(sql, [], |row| row.get(0))).await
    }
}
