//! Opening a database: the file, its connections, and the tables of the components that use it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};

use super::DatabaseError;

/// The application id of the files of this crate: "llmd" in ASCII.
const APPLICATION: i32 = 0x6c6c_6d64;
/// How long a commit waits for the commits of other processes.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of statements that a connection keeps prepared.
const STATEMENTS: usize = 64;
/// The page cache of the connection that writes, in KiB: each run writes to a page of an index.
const CACHE: i32 = 8 * 1024;
/// The number of pages of 4 KiB in the log before it is copied to the file; a page that changes often is copied once.
const LOG_PAGES: u32 = 4_000;
/// The maximum size of the log in bytes after it is copied to the file.
const LOG_LIMIT: u32 = 16 * 1024 * 1024;

/// The refusal of an SQLite file that another program may need.
const NOT_OURS: &str = "not an llm-do database, nothing was written; choose another file";
/// The refusal of a file that is not an SQLite database.
const NOT_A_DATABASE: &str = "not an SQLite database, nothing was written; choose another file";

/// A part of the crate with its own tables in a database.
#[derive(Debug)]
pub struct Component {
    /// The name under which the version of its tables is kept.
    pub name: &'static str,
    /// The statements that migrate the tables from each version to the next; the first creates them. A released
    /// migration never changes.
    pub migrations: &'static [&'static str],
}

impl Component {
    /// Applies the missing migrations, and returns the version that the tables had.
    pub(super) fn migrate(&self, transaction: &Transaction<'_>) -> rusqlite::Result<u32> {
        let version = self.known_version(transaction)?;
        for migration in self.migrations.iter().skip(version as usize) {
            transaction.execute_batch(migration)?;
        }
        if version < self.version() {
            let sql = "INSERT INTO components (name, version) VALUES (?1, ?2) \
                       ON CONFLICT (name) DO UPDATE SET version = excluded.version";
            transaction.execute(sql, (self.name, self.version()))?;
        }
        Ok(version)
    }

    /// Returns the version that the tables have; 0 if they are missing.
    pub(super) fn known_version(&self, connection: &Connection) -> rusqlite::Result<u32> {
        let sql = "SELECT version FROM components WHERE name = ?1";
        Ok(connection.query_row(sql, [self.name], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    /// Returns an error message if this version cannot read the tables.
    pub(super) fn check_readable(&self, version: u32) -> Result<(), String> {
        self.check(version)?;
        let name = self.name;
        match version {
            0 => Err(format!("it has no `{name}` tables; choose another file")),
            version if version < self.version() => Err(format!(
                "its `{name}` tables have the earlier version {version}; open it once with this version of the program, which migrates it"
            )),
            _ => Ok(()),
        }
    }

    /// Returns an error message if the tables are of a later version of this crate.
    pub(super) fn check(&self, version: u32) -> Result<(), String> {
        let (name, known) = (self.name, self.version());
        if version <= known {
            return Ok(());
        }
        Err(format!(
            "its `{name}` tables have version {version}; this version of llm-do supports versions up to {known}; use the \
             version of llm-do that wrote it, or choose another file"
        ))
    }

    fn version(&self) -> u32 {
        u32::try_from(self.migrations.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the absolute path of the file, which it creates if it is missing.
pub(super) fn prepare(path: &Path) -> Result<Arc<Path>, DatabaseError> {
    // SQLite would take a relative path for a URI if it begins with `file:`.
    let absolute = std::path::absolute(path).map_err(|source| DatabaseError::io(&path.into(), source))?;
    let path: Arc<Path> = absolute.into();
    // Existing files are not opened here: closing one would release the locks of another `Database` of this process.
    let file = match fs::metadata(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(&path).and_then(|()| fs::metadata(&path)).map_err(|source| DatabaseError::io(&path, source))?
        }
        Err(source) => return Err(DatabaseError::io(&path, source)),
    };
    if !file.is_file() {
        return Err(DatabaseError::refused(&path, "not a regular file; choose another path".to_owned()));
    }
    if file.len() == 0 {
        make_private(&path, &file).map_err(|source| DatabaseError::io(&path, source))?;
    }
    Ok(path)
}

fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // Another process created the file first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        opened => opened.map(drop),
    }
}

/// SQLite gives the files beside it the same permissions.
#[cfg(unix)]
fn make_private(path: &Path, file: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mode = file.permissions().mode();
    let private = mode & 0o700;
    if mode & 0o777 == private { Ok(()) } else { fs::set_permissions(path, PermissionsExt::from_mode(private)) }
}

/// On other systems, the folder decides who can read a file.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "same signature as on Unix")]
fn make_private(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens the connection that writes; creates what the file needs.
pub(super) fn connect(path: &Arc<Path>) -> Result<Connection, DatabaseError> {
    let failed = |source| DatabaseError::sqlite(path, source);
    let mut connection = open(path).map_err(failed)?;
    match identify(&mut connection) {
        Ok(true) => {}
        Ok(false) => {
            return Err(DatabaseError::refused(path, NOT_OURS.to_owned()));
        }
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(DatabaseError::refused(path, NOT_A_DATABASE.to_owned()));
        }
        Err(error) => return Err(failed(error)),
    }
    log_writes(&connection).map_err(failed)?;
    Ok(connection)
}

/// Opens a connection to a database that exists, to read it; returns it with the absolute path.
pub(super) fn existing(path: &Path) -> Result<(Arc<Path>, Connection), DatabaseError> {
    let absolute = std::path::absolute(path).map_err(|source| DatabaseError::io(&path.into(), source))?;
    let path: Arc<Path> = absolute.into();
    fs::metadata(&path).map_err(|source| DatabaseError::io(&path, source))?;
    let connection = connect_reader(&path)?;
    match is_known(&connection) {
        Ok(true) => Ok((path, connection)),
        Ok(false) => Err(DatabaseError::refused(&path, NOT_OURS.to_owned())),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(DatabaseError::refused(&path, NOT_A_DATABASE.to_owned()))
        }
        Err(error) => Err(DatabaseError::sqlite(&path, error)),
    }
}

/// Opens a connection that only reads.
pub(super) fn connect_reader(path: &Arc<Path>) -> Result<Connection, DatabaseError> {
    let open = || {
        let connection = open(path)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    open().map_err(|source: rusqlite::Error| DatabaseError::sqlite(path, source))
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Marks a new file as a database of this crate; returns whether the file is one.
fn identify(connection: &mut Connection) -> rusqlite::Result<bool> {
    if is_known(connection)? {
        return Ok(true);
    }
    // Takes effect only before the first table is created; with it, the space of deleted rows can be returned.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have marked the file first.
    let application: i32 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let has_tables: bool = transaction.query_row("SELECT count(*) > 0 FROM sqlite_schema", [], |row| row.get(0))?;
    let is_new = application == 0 && !has_tables;
    if is_new {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        let sql = "CREATE TABLE components (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID";
        transaction.execute_batch(sql)?;
    }
    transaction.commit()?;
    is_known(connection)
}

fn is_known(connection: &Connection) -> rusqlite::Result<bool> {
    let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(application == APPLICATION)
}

/// Writes commits to a synced log beside the file, so that reads do not wait for writes, and a commit needs one sync.
fn log_writes(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let set = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match set {
            // SQLite does not wait while another process makes the same change.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
    // On macOS, only these settings make a sync reach the disk; other systems ignore them.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(()))
}
