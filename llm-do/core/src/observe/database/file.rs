//! A database opened for reading only, possibly while another program writes it.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::{Component, DatabaseError, open};

/// A database that exists, read on the caller's thread; nothing is created, changed or migrated.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    path: Arc<Path>,
    connection: Connection,
}

impl DatabaseFile {
    /// Opens the database at `path` to read the tables of a component. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, is not a database of this crate, or has these tables in another version.
    pub(crate) fn open(path: &Path, component: &Component) -> Result<Self, DatabaseError> {
        let (path, connection) = open::existing(path)?;
        let file = Self { path, connection };
        let version = file.read(|connection| component.known_version(connection))?;
        component.check_readable(version).map_err(|message| DatabaseError::refused(&file.path, message))?;
        Ok(file)
    }

    /// Runs `read` in one snapshot. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of `read`.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
        let in_snapshot = || {
            let transaction = self.connection.unchecked_transaction()?;
            let value = read(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        in_snapshot().map_err(|source: rusqlite::Error| DatabaseError::sqlite(&self.path, source))
    }
}
