//! A database shared by simulated processes, all on one thread, so that a simulation is repeatable.

#![allow(clippy::unwrap_used, reason = "for tests")]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::{Connection, Transaction};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};

use super::access::Access;
use super::writer::{Job, commit, queued};
use super::{Database, DatabaseError, SharedDatabase, open};
use crate::base::mutex::IgnorePoison;

/// The file, which all processes share. It is never synced, and is deleted at the end.
#[derive(Clone, Debug)]
pub struct SimulatedFile {
    path: Arc<Path>,
    _folder: Arc<TempDir>,
    connection: Arc<Mutex<Connection>>,
    commits: Arc<AtomicI64>,
}

/// The state of a simulated process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Running,
    /// The process does nothing, and continues later.
    Stalled,
    /// The process has died, and its uncommitted changes are lost.
    Dead,
}

/// The access of a process to the file.
pub(super) struct Process(Arc<Inner>);

struct Inner {
    file: SimulatedFile,
    condition: watch::Receiver<Condition>,
    /// The changes to commit together, and the reads of a stalled process.
    queue: Mutex<VecDeque<Queued>>,
    queued: Notify,
}

enum Queued {
    Change(Job),
    Read(Box<dyn FnOnce(&Connection) + Send>),
}

impl SimulatedFile {
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it makes a file")]
    pub fn new() -> Self {
        // In memory, SQLite may scan its whole page table at each commit.
        let folder = TempDir::new().unwrap();
        let path = open::prepare(&folder.path().join("simulated.db")).unwrap();
        let connection = open::connect(&path).unwrap();
        connection.pragma_update(None, "synchronous", "OFF").unwrap();
        Self { path, _folder: Arc::new(folder), connection: Arc::new(Mutex::new(connection)), commits: Arc::default() }
    }

    /// Opens the file for a process whose state changes.
    #[must_use]
    pub fn open(&self, condition: watch::Receiver<Condition>) -> Database {
        let inner = Inner { file: self.clone(), condition, queue: Mutex::default(), queued: Notify::new() };
        let inner = Arc::new(inner);
        tokio::spawn(work(Arc::clone(&inner)));
        let access = Access::Simulated(Process(inner));
        Database(Arc::new(SharedDatabase { path: Arc::clone(&self.path), access }))
    }

    /// Returns the number of transactions so far.
    #[must_use]
    pub fn commits(&self) -> i64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Reads outside of all processes.
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> T {
        read(&self.connection()).unwrap()
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().ignore_poison()
    }
}

/// Commits the queued changes of a process; changes that are queued in the same moment are committed together.
async fn work(process: Arc<Inner>) {
    let mut condition = process.condition.clone();
    loop {
        tokio::select! {
            biased;
            gone = condition.wait_for(|condition| *condition == Condition::Dead) => {
                drop(gone);
                process.queue.lock().ignore_poison().clear();
                return;
            }
            () = process.queued.notified() => {}
        }
        if condition.wait_for(|condition| *condition != Condition::Stalled).await.is_ok() {
            process.work_off();
        }
    }
}

impl Inner {
    fn condition(&self) -> Condition {
        *self.condition.borrow()
    }

    fn work_off(&self) {
        let queued = std::mem::take(&mut *self.queue.lock().ignore_poison());
        if self.condition() == Condition::Dead {
            return;
        }
        let (mut changes, mut reads) = (Vec::new(), Vec::new());
        for queued in queued {
            match queued {
                Queued::Change(Job::Change(change)) => changes.push(change),
                Queued::Change(Job::Shrink(then)) => then(Ok(())),
                Queued::Read(read) => reads.push(read),
            }
        }
        if !changes.is_empty() {
            let later = std::iter::empty();
            let committed = commit(&self.file.path, &mut self.file.connection(), &mut changes, later);
            self.file.commits.fetch_add(1, Ordering::Relaxed);
            for change in changes {
                change.finish(committed.clone());
            }
        }
        for read in reads {
            read(&self.file.connection());
        }
    }

    fn push(&self, queued: Queued) {
        if self.condition() != Condition::Dead {
            self.queue.lock().ignore_poison().push_back(queued);
            self.queued.notify_one();
        }
    }
}

impl Process {
    pub(super) fn write<T, F, D>(&self, has_savepoint: bool, change: F, then: D)
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        self.0.push(Queued::Change(queued(&self.0.file.path, has_savepoint, change, then)));
    }

    pub(super) fn read<T, F, D>(&self, read: F, then: D)
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        let path = Arc::clone(&self.0.file.path);
        let read = move |connection: &Connection| {
            then(read(connection).map_err(|source| DatabaseError::sqlite(&path, source)));
        };
        match self.0.condition() {
            Condition::Running => read(&self.0.file.connection()),
            Condition::Stalled => self.0.push(Queued::Read(Box::new(read))),
            Condition::Dead => {}
        }
    }

    /// Processes the queue, since the caller blocks the only thread.
    pub(super) fn settle(&self) {
        self.0.work_off();
    }

    pub(super) fn version(&self) -> i64 {
        self.0.file.commits()
    }
}

/// Commits the queued changes, as closing a file does.
impl Drop for Process {
    fn drop(&mut self) {
        self.0.work_off();
    }
}
