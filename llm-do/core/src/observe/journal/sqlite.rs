//! A journal for many runs in one SQLite file.

mod head;
mod in_flight;
mod journal_file;
pub(crate) mod lease;
mod open_run;
pub(crate) mod promises;
mod read;
mod record_list;
mod retention;
mod run;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Transaction};
use serde_json::Value;
use tokio::sync::watch;

pub use self::journal_file::{JournalFile, RunRecords};
pub(crate) use self::lease::Fence;
pub use self::promises::OpenPromise;
pub(crate) use self::read::values as read_values;
pub(crate) use self::record_list::RecordList;
pub(crate) use self::retention::delete_run;
pub use self::retention::{Expired, Retention};
pub use self::run::SqliteRun;
use super::{JournalError, Record};
use crate::base::clock::{Clock, SystemClock};
use crate::observe::database::{Database, DatabaseError};

/// A journal for many runs in one SQLite file.
///
/// Each [`run`](Self::run) is a [`Journal`](super::Journal) for [`Start::journal`](crate::session::runtime::Start::journal). A
/// record is synced to disk before the result of its effect is returned; concurrent records of all runs are synced
/// together. Only the data that matching requires is in memory: values are read from the file when they are replayed,
/// and a run that is dropped takes no memory.
///
/// Several processes may use one file. One process has a run at a time: a process that [`claim`](Self::claim)s a run
/// takes it over once the claim of the other process has lapsed, and later records of the other process are refused.
/// The file contains arguments and answers in plain text, so on Unix a new file is readable and writable only by its
/// owner. It must be on a local disk, since network file systems do not lock files reliably.
///
/// Clones share the file; dropping the last one, and the last run, waits for pending writes.
///
/// # Examples
///
/// ```
/// use llm_do::journal::{Journal, JournalError, LocalOutcome, SqliteJournal, StepKind, StepSpec};
/// use llm_do::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), JournalError> {
/// # let folder = std::env::temp_dir().join(format!("llm-do-sqlite-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let path = folder.join("runs.db");
/// let step = StepSpec::new("main", 0, StepKind::Tool, "send_mail", json!({ "to": "ada" }));
/// let runs = SqliteJournal::open(&path)?;
/// let run = runs.run("order-17").await?;
/// assert_eq!(run.step(step.clone(), Box::pin(async { LocalOutcome::Record(json!("sent")) })).await?, "sent");
/// drop((run, runs));
///
/// // Perhaps after a crash, in another process:
/// let runs = SqliteJournal::open(&path)?;
/// let run = runs.run("order-17").await?;
/// assert_eq!(run.step(step, Box::pin(async { unreachable!("the mail is already sent") })).await?, "sent");
/// assert!(!runs.run("order-18").await?.is_replaying(), "another run has records of its own");
/// # drop((run, runs));
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteJournal {
    database: Database,
    clock: Arc<dyn Clock>,
    /// Notified when this process may have answered a promise.
    answers: Arc<watch::Sender<()>>,
}

impl SqliteJournal {
    /// Opens the file at `path`, or creates it.
    ///
    /// Blocks: call it before the runtime starts, or outside of async tasks.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Refused`] if the file is not a journal of this kind or is of a later version, and
    /// [`JournalError::Io`] if it cannot be opened or created.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JournalError> {
        let database = Database::open(path.as_ref()).map_err(JournalError::from)?;
        Self::on(database)
    }

    /// Opens the journal in a database that other components use too. Blocks.
    pub(crate) fn on(database: Database) -> Result<Self, JournalError> {
        database.migrate(&tables::TABLES)?;
        Ok(Self { database, clock: Arc::new(SystemClock), answers: Arc::default() })
    }

    /// Sets the clock of waits and claims. Default: the system clock.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Opens a run to resume it, or begins it. Once another process opens or claims the run, records of this handle are
    /// refused.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Claimed`] if a process has claimed the run, and [`JournalError::Io`] if the file cannot be
    /// read or written.
    pub async fn run(&self, id: &str) -> Result<SqliteRun, JournalError> {
        self.claimed(id, None, None).await
    }

    /// Claims a run for a time, and opens it to resume it, or begins it. Other processes do not open it during that
    /// time.
    ///
    /// Call [`renew`](SqliteRun::renew) or [`release`](SqliteRun::release) before the time has elapsed. `owner` is
    /// unique for the process, such as a UUID. If the process hangs longer than `time`, another process may take over
    /// the run; later records of this process are refused with [`JournalError::TakenOver`]. The clocks of the processes
    /// must agree to within a small part of `time`. A process that is stopped in the middle of a commit keeps the whole
    /// file locked until it continues or ends.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Claimed`] if another owner has the run, and [`JournalError::Io`] if the file cannot be read
    /// or written.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use llm_do::journal::{JournalError, SqliteJournal};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), JournalError> {
    /// # let folder = std::env::temp_dir().join(format!("llm-do-claim-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder).unwrap();
    /// # let path = folder.join("runs.db");
    /// let runs = SqliteJournal::open(&path)?;
    /// let run = runs.claim("order-17", "process a", Duration::from_secs(30)).await?;
    /// let other = runs.claim("order-17", "process b", Duration::from_secs(30)).await;
    /// assert!(matches!(other, Err(JournalError::Claimed { .. })));
    ///
    /// run.release().await?;
    /// runs.claim("order-17", "process b", Duration::from_secs(30)).await?;
    /// # drop((run, runs));
    /// # std::fs::remove_dir_all(folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    pub async fn claim(&self, id: &str, owner: &str, time: Duration) -> Result<SqliteRun, JournalError> {
        self.claimed(id, Some(owner), Some(time)).await
    }

    async fn claimed(&self, id: &str, owner: Option<&str>, time: Option<Duration>) -> Result<SqliteRun, JournalError> {
        let (run, owner, now) = (id.to_owned(), owner.map(str::to_owned), self.clock.now());
        let until = time.map(|time| later(now, time));
        let claim = move |transaction: &Transaction<'_>| lease::claim(transaction, &run, owner.as_deref(), now, until);
        match self.database.write(claim).await? {
            lease::Claim::Granted(fence) => {
                let run = self.open_run(id, fence, time).await?;
                run.ok_or_else(|| JournalError::TakenOver { run: id.to_owned() })
            }
            lease::Claim::Held(until) => Err(JournalError::Claimed { run: id.to_owned(), until }),
        }
    }

    /// Claims several runs in one transaction; returns the runs that no other owner has.
    pub(crate) async fn claim_all(
        &self,
        ids: Vec<String>,
        owner: &str,
        time: Duration,
    ) -> Result<Vec<(String, Fence)>, DatabaseError> {
        let (owner, now) = (owner.to_owned(), self.clock.now());
        self.database.write(move |transaction| lease::claim_all(transaction, ids, &owner, now, time)).await
    }

    /// Opens a run that was claimed before, for `time` if that is limited; `None` if it was deleted since then.
    pub(crate) async fn open_run(
        &self,
        id: &str,
        fence: Fence,
        time: Option<Duration>,
    ) -> Result<Option<SqliteRun>, DatabaseError> {
        SqliteRun::load(self.clone(), id.into(), fence, time).await
    }

    /// Extends all claims of `owner` by `time` from now; returns their number.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be written.
    pub async fn renew(&self, owner: &str, time: Duration) -> Result<usize, JournalError> {
        let (owner, until) = (owner.to_owned(), later(self.clock.now(), time));
        Ok(self.database.write(move |transaction| lease::renew_all(transaction, &owner, until)).await?)
    }

    /// Reads the records of a run, in the order in which the steps ended; empty if the run is unknown.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be read.
    pub async fn records(&self, id: &str) -> Result<Vec<Record>, JournalError> {
        let id = id.to_owned();
        Ok(self.database.read(move |connection| read::records(connection, &id)).await?)
    }

    /// Reads the records of a run part by part, and keeps what `keep` returns of each; empty if the run is unknown.
    pub(crate) async fn read_parts(
        &self,
        id: &str,
        keep: impl Fn(Record) -> Option<Record> + Send + 'static,
    ) -> Result<Vec<Record>, JournalError> {
        let id = id.to_owned();
        Ok(self.database.read(move |connection| RecordList::read_parts(connection, &id, keep)).await?)
    }

    /// Returns the number of the last record of a run, and whether only its result is kept: while both are the same, so are its
    /// records.
    pub(crate) async fn version(&self, id: &str) -> Result<(i64, bool), JournalError> {
        let id = id.to_owned();
        let sql = "SELECT last, reduced FROM journal_runs WHERE id = ?1";
        let read = move |connection: &rusqlite::Connection| {
            let version = |row: &rusqlite::Row<'_>| Ok::<(i64, bool), rusqlite::Error>((row.get(0)?, row.get(1)?));
            connection.prepare_cached(sql)?.query_row([id], version).optional()
        };
        Ok(self.database.read(read).await?.unwrap_or_default())
    }

    /// Returns the records of a run, to be read part by part; `None` if the run is unknown.
    pub(crate) async fn record_list(&self, id: &str) -> Result<Option<RecordList>, JournalError> {
        let id = id.to_owned();
        Ok(self.database.read(move |connection| RecordList::of(connection, &id)).await?)
    }

    /// Reads the next records of a list: none at the end, and `None` if they were deleted meanwhile.
    pub(crate) async fn next_records(
        &self,
        mut list: RecordList,
    ) -> Result<(RecordList, Option<Vec<Record>>), JournalError> {
        let read = move |connection: &rusqlite::Connection| {
            let part = list.next(connection)?;
            Ok((list, part))
        };
        Ok(self.database.read(read).await?)
    }

    /// Lists the unanswered questions of runs to people, oldest first.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be read.
    pub async fn promises(&self) -> Result<Vec<OpenPromise>, JournalError> {
        Ok(self.database.read(promises::open).await?)
    }

    /// Gives the answer to a promise; returns false if it was answered or withdrawn meanwhile, or if another request was
    /// stored under its id.
    ///
    /// The run receives the answer while it waits, in any process, or once it is resumed.
    /// [`Journal::promise`](super::Journal::promise) lists the forms of answers.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be written.
    pub async fn resolve(&self, promise: &OpenPromise, answer: Value) -> Result<bool, JournalError> {
        let (id, digest, now) = (promise.id.clone(), promise.digest.clone(), self.clock.now());
        let resolve = move |transaction: &Transaction<'_>| {
            promises::resolve(transaction, (&id, &digest), &answer.to_string(), None, now)
        };
        let is_resolved = self.database.write(resolve).await?;
        self.notify_answers();
        Ok(is_resolved)
    }

    /// Makes the runs of this process look for answers that were written in another way.
    pub(crate) fn notify_answers(&self) {
        self.answers.send_replace(());
    }

    /// Deletes the records of runs that ended long ago, and returns their space to the file system.
    ///
    /// A run has ended when its result or failure was recorded; it cannot be resumed without its records. Runs that a
    /// process has claimed are left out.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be written; some records may be deleted then.
    pub async fn expire(&self, retention: Retention) -> Result<Expired, JournalError> {
        let (now, mut expired) = (self.clock.now(), Expired::default());
        let before = earlier(now, retention.records);
        loop {
            match self.database.write(move |transaction| retention::reduce(transaction, before, now)).await? {
                0 => break,
                reduced => expired.reduced += reduced,
            }
        }
        while let Some(results) = retention.results {
            let before = earlier(now, results);
            match self.database.write(move |transaction| retention::delete(transaction, before, now)).await? {
                0 => break,
                deleted => expired.deleted += deleted,
            }
        }
        if expired != Expired::default() {
            self.database.shrink().await?;
        }
        Ok(expired)
    }

    /// Deletes a run; returns false if it is unknown. A process that has claimed it can no longer record anything.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Io`] if the file cannot be written.
    pub async fn delete(&self, id: &str) -> Result<bool, JournalError> {
        let id = id.to_owned();
        let delete = move |transaction: &Transaction<'_>| {
            let sql = "SELECT run FROM journal_runs WHERE id = ?1";
            let run = transaction.query_row(sql, [id], |row| row.get(0)).optional()?;
            run.map(|run| retention::delete_run(transaction, run)).transpose()
        };
        Ok(self.database.write(delete).await?.is_some())
    }

    /// Returns the absolute path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }
}

/// Returns the time `after` later, limited to the maximum timestamp.
fn later(time: Timestamp, after: Duration) -> Timestamp {
    time.checked_add(after).unwrap_or(Timestamp::MAX)
}

fn earlier(time: Timestamp, before: Duration) -> Timestamp {
    time.checked_sub(before).unwrap_or(Timestamp::MIN)
}

impl From<DatabaseError> for JournalError {
    fn from(error: DatabaseError) -> Self {
        let path = error.path().to_owned();
        match error {
            DatabaseError::Refused { message, .. } => Self::Refused { path, message },
            error => Self::Io { path, source: error.into_io() },
        }
    }
}

impl fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteJournal").field("path", &self.path()).finish_non_exhaustive()
    }
}
