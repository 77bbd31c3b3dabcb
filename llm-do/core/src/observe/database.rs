//! An SQLite file: queued writes are committed together, and reads do not wait for writes.

mod access;
mod error;
mod file;
mod open;
mod readers;
#[cfg(feature = "simulated")]
pub mod simulated;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use rusqlite::{Connection, Transaction};
use tokio::sync::oneshot;

use self::access::Access;
pub use self::error::DatabaseError;
pub use self::file::DatabaseFile;
pub use self::open::Component;

/// An SQLite file. Clones share it; dropping the last one waits until all queued writes are committed.
///
/// All writes go through one thread, which commits queued writes together, with one sync of the disk. A write that is
/// acknowledged survives a loss of power. Several processes may open the file: their commits wait for each other.
#[derive(Clone)]
pub struct Database(Arc<SharedDatabase>);

struct SharedDatabase {
    path: Arc<Path>,
    access: Access,
}

impl Database {
    /// Opens the file at `path`, or creates it. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be opened or created, or is not a database of this crate.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let path = open::prepare(path)?;
        let access = Access::open(&path)?;
        Ok(Self(Arc::new(SharedDatabase { path, access })))
    }

    /// Creates the tables of a component, or migrates them to this version. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the tables are of a later version of this crate.
    pub fn migrate(&self, component: &'static Component) -> Result<(), DatabaseError> {
        let version = self.write_blocking(|transaction| component.migrate(transaction))?;
        component.check(version).map_err(|message| DatabaseError::refused(&self.0.path, message))
    }

    /// Makes changes, and returns the result of `change` once they are committed.
    ///
    /// If `change` fails, its changes are undone; other changes in the same commit are not affected. Dropping the
    /// future does not stop a change.
    ///
    /// # Errors
    ///
    /// Returns the error of `change` or of the commit: nothing was changed then.
    pub async fn write<T, F>(&self, change: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        self.write_noting(change, |_| ()).await
    }

    /// Makes changes like [`write`](Self::write), in sync code. Must not be called inside a change or a read.
    pub(crate) fn write_blocking<T, F>(&self, change: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        self.write_then(change, move |result| drop(sender.send(result)));
        #[cfg(feature = "simulated")]
        self.0.access.settle();
        receiver.recv().unwrap_or_else(|_| Err(self.panicked()))
    }

    /// Makes changes like [`write`](Self::write), and calls `note` with the result as soon as they are committed, even
    /// if the future is dropped.
    ///
    /// `note` runs on the writer's thread, before later changes are made: it must be quick.
    pub async fn write_noting<T, F, N>(&self, change: F, note: N) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        N: FnOnce(&Result<T, DatabaseError>) + Send + 'static,
    {
        self.write_with(true, change, note).await
    }

    /// Makes changes like [`write_noting`](Self::write_noting), without a savepoint.
    ///
    /// If one of the statements fails, the statements before it stay: the caller must ensure that they have no effect
    /// then.
    pub(crate) async fn write_without_savepoint<T, F, N>(&self, change: F, note: N) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        N: FnOnce(&Result<T, DatabaseError>) + Send + 'static,
    {
        self.write_with(false, change, note).await
    }

    async fn write_with<T, F, N>(&self, has_savepoint: bool, change: F, note: N) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        N: FnOnce(&Result<T, DatabaseError>) + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.0.access.write(has_savepoint, change, |result| {
            note(&result);
            drop(sender.send(result));
        });
        receiver.await.unwrap_or_else(|_| Err(self.panicked()))
    }

    /// Queues changes whose result does not matter.
    pub(crate) fn write_later<T, F>(&self, change: F)
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        self.write_then(change, drop);
    }

    /// Queues changes; calls `then` with their result on the writer thread.
    fn write_then<T, F, D>(&self, change: F, then: D)
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        self.0.access.write(true, change, then);
    }

    /// Reads in one snapshot, on a reader thread.
    ///
    /// # Errors
    ///
    /// Returns the error of `read`.
    pub async fn read<T, F>(&self, read: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.0.access.read(read, |result| drop(sender.send(result)));
        receiver.await.unwrap_or_else(|_| Err(self.panicked()))
    }

    /// Reads in one snapshot, for tests in sync code.
    #[cfg(test)]
    pub(crate) fn read_blocking<T, F>(&self, read: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let (sender, receiver) = sync_channel(1);
        self.0.access.read(read, move |result| drop(sender.send(result)));
        #[cfg(feature = "simulated")]
        self.0.access.settle();
        receiver.recv().unwrap_or_else(|_| Err(self.panicked()))
    }

    /// Returns a number that changes whenever any process, including this one, has written since the last call.
    pub async fn version(&self) -> Result<i64, DatabaseError> {
        let shared = Arc::clone(&self.0);
        let read = move || shared.access.version(&shared.path);
        #[cfg(feature = "simulated")]
        if matches!(self.0.access, Access::Simulated(_)) {
            return read();
        }
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Err(self.panicked()))
    }

    /// Returns the space of deleted rows to the file system.
    pub async fn shrink(&self) -> Result<(), DatabaseError> {
        let (sender, receiver) = oneshot::channel();
        self.0.access.shrink(move |result| drop(sender.send(result)));
        receiver.await.unwrap_or_else(|_| Err(self.panicked()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    fn panicked(&self) -> DatabaseError {
        DatabaseError::Panicked { path: Arc::clone(&self.0.path) }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("path", &self.0.path).finish_non_exhaustive()
    }
}
