//! A database opened for reading only, possibly while another program writes it.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::{Component, DatabaseError, open};

/// A database that exists, read on the caller's thread; nothing is created, changed or migrated.
#[derive(Debug)]
pub struct DatabaseFile {
    path: Arc<Path>,
    connection: Connection,
}

impl DatabaseFile {
    /// Opens the database at `path` to read the tables of a component. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, is not a database of this crate, or has these tables in another version.
    pub fn open(path: &Path, component: &Component) -> Result<Self, DatabaseError> {
        let (file, version) = Self::of(path, component)?;
        file.readable(component, version)
    }

    /// Opens the database at `path` if it has the tables of a component. Blocks.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, is not a database of this crate, or has these tables in another version.
    pub fn find(path: &Path, component: &Component) -> Result<Option<Self>, DatabaseError> {
        let (file, version) = Self::of(path, component)?;
        if version == 0 { Ok(None) } else { file.readable(component, version).map(Some) }
    }

    /// Opens the database, and returns the version of the tables of a component.
    fn of(path: &Path, component: &Component) -> Result<(Self, u32), DatabaseError> {
        let (path, connection) = open::existing(path)?;
        let file = Self { path, connection };
        let version = file.read(|connection| component.known_version(connection))?;
        Ok((file, version))
    }

    fn readable(self, component: &Component, version: u32) -> Result<Self, DatabaseError> {
        component.check_readable(version).map_err(|message| DatabaseError::refused(&self.path, message))?;
        Ok(self)
    }

    /// Runs `read` in one snapshot. Blocks.
    ///
    /// # Errors
    ///
    /// Returns the error of `read`.
    pub fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
        let in_snapshot = || {
            let transaction = self.connection.unchecked_transaction()?;
            let value = read(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        in_snapshot().map_err(|source: rusqlite::Error| DatabaseError::sqlite(&self.path, source))
    }
}
