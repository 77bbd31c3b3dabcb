//! The thread that writes: it makes all queued changes in one transaction, most of them in savepoints.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DatabaseError;
use super::open::BUSY_TIMEOUT;

/// The maximum number of changes in a transaction, so that the first is committed soon.
const MAX_TOGETHER: usize = 1_000;
/// The number of pages to free in one step, so that writes wait for a short time only.
const PAGES_AT_ONCE: u32 = 1_000;
/// How long copying the log waits for readers of the log.
const COPY_TIMEOUT: Duration = Duration::from_millis(100);

/// A handle to the writer thread. Dropping it waits until all queued changes are committed.
pub(super) struct Writer {
    path: Arc<Path>,
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

pub(super) enum Job {
    Change(Box<dyn QueuedChange>),
    Shrink(Box<dyn FnOnce(Result<(), DatabaseError>) + Send>),
}

/// A change with its callback.
pub(super) trait QueuedChange: Send {
    /// Makes the change, and stores its result.
    fn make(&mut self, transaction: &Transaction<'_>) -> Result<(), DatabaseError>;

    /// Whether the statements of the change are undone if a later one fails.
    fn has_savepoint(&self) -> bool;

    /// Passes the result on, or the error of the commit.
    fn finish(self: Box<Self>, committed: Result<(), DatabaseError>);
}

struct Change<F, T, D> {
    path: Arc<Path>,
    make: Option<F>,
    outcome: Option<Result<T, DatabaseError>>,
    has_savepoint: bool,
    then: D,
}

impl<T, F, D> QueuedChange for Change<F, T, D>
where
    T: Send,
    F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send,
    D: FnOnce(Result<T, DatabaseError>) + Send,
{
    fn make(&mut self, transaction: &Transaction<'_>) -> Result<(), DatabaseError> {
        let Some(make) = self.make.take() else { return Ok(()) };
        let outcome = match catch_unwind(AssertUnwindSafe(|| make(transaction))) {
            Ok(outcome) => outcome.map_err(|source| DatabaseError::sqlite(&self.path, source)),
            Err(_) => Err(DatabaseError::Panicked { path: Arc::clone(&self.path) }),
        };
        let result = outcome.as_ref().map(drop).map_err(Clone::clone);
        self.outcome = Some(outcome);
        result
    }

    fn has_savepoint(&self) -> bool {
        self.has_savepoint
    }

    fn finish(self: Box<Self>, committed: Result<(), DatabaseError>) {
        let Self { path, outcome, then, .. } = *self;
        let outcome = match (committed, outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) => Err(DatabaseError::Panicked { path }),
            (Err(error), _) => Err(error),
        };
        then(outcome);
    }
}

impl Writer {
    /// Starts the thread.
    pub(super) fn spawn(path: &Arc<Path>, connection: Connection) -> io::Result<Self> {
        let (queue, jobs) = channel();
        let thread_path = Arc::clone(path);
        let thread = std::thread::Builder::new().name("llm-do-database".to_owned());
        let thread = thread.spawn(move || run(&thread_path, connection, &jobs))?;
        Ok(Self { path: Arc::clone(path), queue: Some(queue), thread: Some(thread) })
    }

    /// Queues a change; calls `then` with its result once it is committed.
    pub(super) fn write<T, F, D>(&self, has_savepoint: bool, change: F, then: D)
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        self.send(queued(&self.path, has_savepoint, change, then));
    }

    /// Queues returning the space of deleted rows to the file system.
    pub(super) fn shrink(&self, then: impl FnOnce(Result<(), DatabaseError>) + Send + 'static) {
        self.send(Job::Shrink(Box::new(then)));
    }

    /// Queues a job. If the thread has stopped, the job is dropped, and its caller gets an error.
    fn send(&self, job: Job) {
        if let Some(queue) = &self.queue {
            drop(queue.send(job));
        }
    }
}

/// Returns a change that passes its result to `then` once it is committed.
pub(super) fn queued<T, F, D>(path: &Arc<Path>, has_savepoint: bool, change: F, then: D) -> Job
where
    T: Send + 'static,
    F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
{
    Job::Change(Box::new(Change { path: Arc::clone(path), make: Some(change), outcome: None, has_savepoint, then }))
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            // A callback on this thread may drop the last handle.
            && thread.thread().id() != std::thread::current().id()
        {
            drop(thread.join());
        }
    }
}

fn run(path: &Arc<Path>, mut connection: Connection, jobs: &Receiver<Job>) {
    let mut shrinks = Vec::new();
    while let Some(waiting) = next(jobs, shrinks.is_empty()) {
        let mut change = |job| match job {
            Job::Change(change) => Some(change),
            Job::Shrink(then) => {
                shrinks.push(then);
                None
            }
        };
        let mut changes: Vec<_> = waiting.into_iter().filter_map(&mut change).collect();
        if !changes.is_empty() {
            let later = jobs.try_iter().take(MAX_TOGETHER).filter_map(change);
            let committed = commit(path, &mut connection, &mut changes, later);
            for change in changes {
                let finish = AssertUnwindSafe(|| change.finish(committed.clone()));
                // A callback that panics does not break the database.
                drop(catch_unwind(finish));
            }
        }
        if !shrinks.is_empty() {
            let result = match shrink(&connection) {
                // The rest is freed after the changes that are queued by then.
                Ok(false) => continue,
                Ok(true) => Ok(()),
                Err(source) => Err(DatabaseError::sqlite(path, source)),
            };
            for then in shrinks.drain(..) {
                then(result.clone());
            }
        }
    }
}

/// Returns the queued jobs; waits for the first if the thread is idle. Returns `None` once the handle is dropped.
fn next(jobs: &Receiver<Job>, is_idle: bool) -> Option<Vec<Job>> {
    let first = match jobs.try_recv() {
        Ok(job) => job,
        Err(TryRecvError::Disconnected) => return None,
        Err(TryRecvError::Empty) if is_idle => jobs.recv().ok()?,
        Err(TryRecvError::Empty) => return Some(Vec::new()),
    };
    Some(std::iter::once(first).chain(jobs.try_iter()).take(MAX_TOGETHER).collect())
}

/// Makes all changes in one transaction, together with changes that are queued meanwhile. A failed change is undone
/// alone. If SQLite ends the transaction or cannot commit it, no change is made.
pub(super) fn commit(
    path: &Arc<Path>,
    connection: &mut Connection,
    changes: &mut Vec<Box<dyn QueuedChange>>,
    later: impl Iterator<Item = Box<dyn QueuedChange>>,
) -> Result<(), DatabaseError> {
    let failed = |source| DatabaseError::sqlite(path, source);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    for change in &mut *changes {
        make(path, &transaction, &mut **change)?;
    }
    for mut change in later {
        let made = make(path, &transaction, &mut *change);
        changes.push(change);
        made?;
    }
    // If this fails, dropping the transaction rolls it back.
    transaction.commit().map_err(failed)
}

/// Makes a change; returns an error only if it ended the transaction.
fn make(path: &Arc<Path>, transaction: &Transaction<'_>, change: &mut dyn QueuedChange) -> Result<(), DatabaseError> {
    // Most small changes need no savepoint, for which SQLite allocates 64 KiB.
    let has_savepoint = change.has_savepoint();
    let execute = |sql| {
        let done = transaction.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(|source| DatabaseError::sqlite(path, source))
    };
    if has_savepoint {
        execute("SAVEPOINT change")?;
    }
    if let Err(error) = change.make(transaction) {
        if transaction.is_autocommit() {
            return Err(error);
        }
        if has_savepoint {
            execute("ROLLBACK TO change")?;
        }
    }
    if has_savepoint { execute("RELEASE change") } else { Ok(()) }
}

/// Frees some pages without rows; returns whether all are freed. Then the log is copied to the file, which shrinks to
/// its final size.
fn shrink(connection: &Connection) -> rusqlite::Result<bool> {
    let before: u32 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    connection.execute_batch(&format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})"))?;
    let after: u32 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    if after > 0 && after < before {
        return Ok(false);
    }
    // A reader may need the log for a long time; a later commit then copies it.
    connection.busy_timeout(COPY_TIMEOUT)?;
    let copied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    copied.map(|()| true)
}
