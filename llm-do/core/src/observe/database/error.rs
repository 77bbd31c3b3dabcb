//! Errors of a database.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

/// The error of a database. All writes of a failed commit share it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite failed.
    #[error("cannot read or write the database `{}`", path.display())]
    Sqlite { path: Arc<Path>, source: Arc<rusqlite::Error> },

    /// The file cannot be created or read.
    #[error("cannot open the database `{}`", path.display())]
    Io { path: Arc<Path>, source: Arc<io::Error> },

    /// The file is not a database of this crate and version. It was not changed.
    #[error("cannot open `{}` as a database: {message}", path.display())]
    Refused { path: Arc<Path>, message: String },

    /// A read or a write panicked.
    #[error("a read or a write of the database `{}` panicked; this is a bug in llm-do", path.display())]
    Panicked { path: Arc<Path> },
}

impl DatabaseError {
    pub(super) fn sqlite(path: &Arc<Path>, source: impl Into<Arc<rusqlite::Error>>) -> Self {
        Self::Sqlite { path: Arc::clone(path), source: source.into() }
    }

    pub(super) fn io(path: &Arc<Path>, source: io::Error) -> Self {
        Self::Io { path: Arc::clone(path), source: Arc::new(source) }
    }

    /// Returns whether the file works, but contains a value that cannot be read, so that a retry would fail again.
    #[must_use]
    pub fn is_invalid_value(&self) -> bool {
        let Self::Sqlite { source, .. } = self else { return matches!(self, Self::Panicked { .. }) };
        matches!(
            **source,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::ToSqlConversionFailure(_)
                | rusqlite::Error::Utf8Error(..)
        )
    }

    pub(super) fn refused(path: &Arc<Path>, message: String) -> Self {
        Self::Refused { path: Arc::clone(path), message }
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        let (Self::Sqlite { path, .. } | Self::Io { path, .. } | Self::Refused { path, .. } | Self::Panicked { path }) =
            self;
        path
    }

    /// Returns the error as an I/O error without the path.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Sqlite { source, .. } => io::Error::new(kind(&source), source),
            Self::Io { source, .. } => io::Error::new(source.kind(), source),
            Self::Refused { message, .. } => io::Error::new(io::ErrorKind::InvalidData, message),
            Self::Panicked { .. } => {
                io::Error::other("a read or a write of the database panicked; this is a bug in llm-do")
            }
        }
    }
}

fn kind(error: &rusqlite::Error) -> io::ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => io::ErrorKind::ResourceBusy,
        Some(ErrorCode::PermissionDenied) => io::ErrorKind::PermissionDenied,
        Some(ErrorCode::ReadOnly) => io::ErrorKind::ReadOnlyFilesystem,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => io::ErrorKind::InvalidData,
        _ => io::ErrorKind::Other,
    }
}
