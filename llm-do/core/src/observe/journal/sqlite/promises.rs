//! Questions of runs to people: stored first, answered later, in this process or another.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::super::questions::Questions;
use super::super::{CONTEXT, JournalError, Promise, PromiseSpec, StepKind};
use super::in_flight::StepInFlight;
use super::lease::Fence;
use super::open_run::OpenRun;
use super::read;
use crate::base::mutex::IgnorePoison;

/// How often a run looks for answers of other processes.
const POLL: Duration = Duration::from_millis(250);

/// An unanswered question of a run to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenPromise {
    /// The id.
    pub id: String,
    /// The id of the run.
    pub run: String,
    /// [`Approval`](StepKind::Approval) or [`Input`](StepKind::Input).
    pub kind: StepKind,
    /// The content to show. An approval has `tool`, `summary`, `arguments`, `preview` and more; a question has `prompt`
    /// and `choices`.
    pub request: Value,
    /// The digest of `request`.
    pub digest: String,
    /// When it was asked first.
    pub created: Timestamp,
}

/// The questions of calls that no longer wait for an answer. They are withdrawn if the run continues; a run that is
/// dropped needs them when it is resumed.
#[derive(Debug, Default)]
pub(super) struct Dropped(Mutex<Vec<Arc<str>>>);

/// When dropped, adds a question to [`Dropped`].
struct NoteOnDrop {
    run: Arc<OpenRun>,
    id: Option<Arc<str>>,
    _in_flight: StepInFlight,
}

/// Stores the question of a step, and returns the promise of the answer.
pub(super) async fn promise(run: &Arc<OpenRun>, asked: PromiseSpec) -> Result<Promise, JournalError> {
    withdraw_dropped(run);
    let (fence, now, key) = (run.fence, run.journal.clock.now(), Arc::clone(&asked.key));
    let stored = run.journal.database.write(move |transaction| store(transaction, fence, &asked, now)).await;
    let stored = stored.map_err(|error| run.failed_promise(error))?;
    let Some((id, answer)) = stored else { return Err(run.taken_over()) };
    let (run, id) = (Arc::clone(run), Arc::<str>::from(id));
    let in_flight = run.in_flight.begin_promise(&key);
    let open = NoteOnDrop { run: Arc::clone(&run), id: Some(Arc::clone(&id)), _in_flight: in_flight };
    let awaited = Arc::clone(&id);
    let answer = async move {
        let answer = match answer {
            Some(answer) => answer,
            None => wait(&run, awaited).await?,
        };
        open.keep();
        run.parse(&answer).inspect_err(|error| run.note_failed_promise(error))
    };
    Ok(Promise::new(id, Box::pin(answer)))
}

/// Waits for an answer, as long as this process has the run.
async fn wait(run: &OpenRun, id: Arc<str>) -> Result<String, JournalError> {
    let (mut answers, fence) = (run.journal.answers.subscribe(), run.fence);
    loop {
        answers.mark_unchanged();
        let id = Arc::clone(&id);
        let read = move |connection: &Connection| Ok((fence.holds(connection)?, answer(connection, &id)?));
        let read = run.journal.database.read(read).await;
        match read.map_err(|error| run.failed_promise(error))? {
            (false, _) => return Err(run.taken_over()),
            (true, Some(answer)) => return Ok(answer),
            (true, None) => {}
        }
        // An error means that the timeout has elapsed; the sender lives as long as the run.
        let _ = tokio::time::timeout(POLL, answers.changed()).await;
    }
}

impl NoteOnDrop {
    fn keep(mut self) {
        self.id = None;
    }
}

impl Drop for NoteOnDrop {
    fn drop(&mut self) {
        self.run.dropped.0.lock().ignore_poison().extend(self.id.take());
    }
}

/// Withdraws the questions of calls that were dropped while the run itself continues.
pub(super) fn withdraw_dropped(run: &OpenRun) {
    let ids = std::mem::take(&mut *run.dropped.0.lock().ignore_poison());
    if ids.is_empty() {
        return;
    }
    let number = run.fence.number;
    // If this fails, the end of the run withdraws them.
    run.journal.database.write_later(move |transaction| {
        let sql = "UPDATE journal_promises SET is_withdrawn = 1 WHERE id = ?1 AND answer IS NULL AND fence = ?2";
        let mut statement = transaction.prepare_cached(sql)?;
        ids.iter().try_for_each(|id| statement.execute(params![id, number]).map(drop))
    });
}

#[cfg(feature = "restate")]
impl super::SqliteRun {
    /// Withdraws all questions of the run, of this claim or an earlier one, except those with these keys.
    #[doc(hidden)]
    pub async fn withdraw_except(&self, keys: Vec<String>) -> Result<(), JournalError> {
        let (fence, keys) = (self.0.fence, serde_json::json!(keys).to_string());
        let withdraw = move |transaction: &Transaction<'_>| {
            if !fence.holds(transaction)? {
                return Ok(());
            }
            let sql = "UPDATE journal_promises SET is_withdrawn = 1 WHERE run = ?1 AND answer IS NULL AND is_withdrawn = 0 \
                       AND key NOT IN (SELECT value FROM json_each(?2))";
            transaction.prepare_cached(sql)?.execute(params![fence.run, keys]).map(drop)
        };
        self.0.journal.database.write(withdraw).await.map_err(|error| self.0.failed(error))
    }
}

type Stored = (String, Option<String>);

/// Stores the question of a step; returns its id, and the answer if there is one. Returns `None` if another process has
/// the run.
fn store(
    transaction: &Transaction<'_>,
    fence: Fence,
    asked: &PromiseSpec,
    now: Timestamp,
) -> rusqlite::Result<Option<Stored>> {
    if !fence.holds(transaction)? {
        return Ok(None);
    }
    let sql = "SELECT id, answer, request FROM journal_promises WHERE run = ?1 AND key = ?2";
    let mut statement = transaction.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?));
    let known = statement.query_row(params![fence.run, asked.key], read).optional()?;
    match known {
        // The answer is valid only for the content that the person saw.
        Some((id, Some(answer), shown)) if !asked.is_repeated && is_shown(&asked.request, &shown) => {
            let sql = "UPDATE journal_promises SET fence = ?2 WHERE id = ?1";
            transaction.prepare_cached(sql)?.execute(params![id, fence.number])?;
            Ok(Some((id, Some(answer))))
        }
        Some((id, ..)) => {
            let sql = "UPDATE journal_promises SET request = ?2, digest = ?3, answer = NULL, answered_by = NULL, \
                       answered = NULL, fence = ?4, is_withdrawn = 0 WHERE id = ?1";
            let parameters = params![id, asked.request.to_string(), asked.digest(), fence.number];
            transaction.prepare_cached(sql)?.execute(parameters)?;
            Ok(Some((id, None)))
        }
        None => add(transaction, fence, asked, now).map(|id| Some((id, None))),
    }
}

/// Returns whether a request has the content that a person saw.
///
/// The error of an earlier answer may differ, and the description of the tool, which a deployment may change; also the origins, which
/// concurrent calls may have read in another order.
fn is_shown(request: &Value, shown: &str) -> bool {
    let request = request.to_string();
    if request == shown {
        return true;
    }
    let content = |text: &str| {
        let mut content: Value = serde_json::from_str(text).ok()?;
        for ignored in ["problem", "refused_edit", "description", CONTEXT] {
            content.as_object_mut()?.shift_remove(ignored);
        }
        Some(content)
    };
    content(&request).is_some_and(|request| content(shown) == Some(request))
}

fn add(transaction: &Transaction<'_>, fence: Fence, asked: &PromiseSpec, now: Timestamp) -> rusqlite::Result<String> {
    let id = Uuid::new_v4().to_string();
    let sql = "INSERT INTO journal_promises (id, run, key, kind, request, digest, created, fence) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let request = asked.request.to_string();
    let (kind, created) = (asked.kind.as_str(), now.as_millisecond());
    let parameters = params![id, fence.run, asked.key, kind, request, asked.digest(), created, fence.number];
    transaction.prepare_cached(sql)?.execute(parameters)?;
    Ok(id)
}

/// Returns the questions of a run.
pub(super) fn asked(connection: &Connection, run: i64) -> rusqlite::Result<Questions> {
    let mut questions = Questions::default();
    let mut statement = connection.prepare_cached("SELECT kind, key FROM journal_promises WHERE run = ?1")?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        questions.add(read::kind(row.get_ref(0)?.as_str()?, 0)?, row.get_ref(1)?.as_str()?);
    }
    Ok(questions)
}

fn answer(connection: &Connection, id: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT answer FROM journal_promises WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional().map(Option::flatten)
}

/// Stores an answer, as JSON, for the request with a digest; returns false if no request waits for it.
pub fn resolve(
    transaction: &Transaction<'_>,
    (id, digest): (&str, &str),
    answer: &str,
    by: Option<&str>,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE journal_promises SET answer = ?3, answered_by = ?4, answered = ?5 \
               WHERE id = ?1 AND digest = ?2 AND answer IS NULL AND is_withdrawn = 0";
    let parameters = params![id, digest, answer, by, now.as_millisecond()];
    Ok(transaction.prepare_cached(sql)?.execute(parameters)? > 0)
}

/// Withdraws all questions of a run.
pub fn withdraw_all(transaction: &Transaction<'_>, run: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE journal_promises SET is_withdrawn = 1 WHERE run = ?1 AND answer IS NULL";
    transaction.prepare_cached(sql)?.execute([run]).map(drop)
}

pub(super) fn delete_all(transaction: &Transaction<'_>, run: i64) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM journal_promises WHERE run = ?1")?.execute([run]).map(drop)
}

/// Lists the unanswered questions, oldest first.
pub(super) fn open(connection: &Connection) -> rusqlite::Result<Vec<OpenPromise>> {
    let sql = "SELECT promise.id, run.id, kind, request, digest, created \
               FROM journal_promises AS promise JOIN journal_runs AS run USING (run) \
               WHERE answer IS NULL AND is_withdrawn = 0 ORDER BY created, promise.id";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([], open_promise)?.collect()
}

fn open_promise(row: &Row<'_>) -> rusqlite::Result<OpenPromise> {
    Ok(OpenPromise {
        id: row.get(0)?,
        run: row.get(1)?,
        kind: read::kind(row.get_ref(2)?.as_str()?, 2)?,
        request: read::parse(row.get_ref(3)?.as_str()?, 3)?,
        digest: row.get(4)?,
        created: Timestamp::from_millisecond(row.get(5)?).unwrap_or(Timestamp::MAX),
    })
}
