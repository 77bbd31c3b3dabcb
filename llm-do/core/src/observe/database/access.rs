//! How a database is accessed: by its own threads, or by the only thread of a simulation.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, Transaction};

use super::readers::Readers;
#[cfg(feature = "simulated")]
use super::simulated::Process;
use super::writer::Writer;
use super::{DatabaseError, open};
use crate::base::mutex::IgnorePoison;

#[cfg_attr(feature = "simulated", expect(clippy::large_enum_variant, reason = "there is one for each open file"))]
pub(super) enum Access {
    Threads(Threads),
    #[cfg(feature = "simulated")]
    Simulated(Process),
}

/// A thread that writes and threads that read, each with its own connection.
pub(super) struct Threads {
    writer: Writer,
    readers: Readers,
    /// A connection that only detects writes of other processes, so it neither waits for writes nor delays them.
    watcher: Mutex<Connection>,
}

impl Access {
    /// Opens the file at `path`, and starts the threads. Blocks.
    pub(super) fn open(path: &Arc<Path>) -> Result<Self, DatabaseError> {
        let connection = open::connect(path)?;
        let readers = Readers::spawn(path, || open::connect_reader(path))?;
        let watcher = Mutex::new(open::connect_reader(path)?);
        let writer = Writer::spawn(path, connection).map_err(|source| DatabaseError::io(path, source))?;
        Ok(Self::Threads(Threads { writer, readers, watcher }))
    }

    /// Queues a change; `then` gets its result once it is committed.
    pub(super) fn write<T, F, D>(&self, has_savepoint: bool, change: F, then: D)
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        match self {
            Self::Threads(threads) => threads.writer.write(has_savepoint, change, then),
            #[cfg(feature = "simulated")]
            Self::Simulated(process) => process.write(has_savepoint, change, then),
        }
    }

    /// Queues a read; calls `then` with its result.
    pub(super) fn read<T, F, D>(&self, read: F, then: D)
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        match self {
            Self::Threads(threads) => threads.readers.read(read, then),
            #[cfg(feature = "simulated")]
            Self::Simulated(process) => process.read(read, then),
        }
    }

    /// Queues returning the space of deleted rows to the file system.
    pub(super) fn shrink(&self, then: impl FnOnce(Result<(), DatabaseError>) + Send + 'static) {
        match self {
            Self::Threads(threads) => threads.writer.shrink(then),
            #[cfg(feature = "simulated")]
            Self::Simulated(_) => then(Ok(())),
        }
    }

    /// Returns a number that changes whenever any process has written since the last call.
    pub(super) fn version(&self, path: &Arc<Path>) -> Result<i64, DatabaseError> {
        match self {
            Self::Threads(threads) => {
                let watcher = threads.watcher.lock().ignore_poison();
                let version = watcher.pragma_query_value(None, "data_version", |row| row.get(0));
                version.map_err(|source| DatabaseError::sqlite(path, source))
            }
            #[cfg(feature = "simulated")]
            Self::Simulated(process) => Ok(process.version()),
        }
    }

    /// Processes the queue before the caller blocks, since a simulation has no other thread to process it.
    #[cfg(feature = "simulated")]
    pub(super) fn settle(&self) {
        if let Self::Simulated(process) = self {
            process.settle();
        }
    }
}
