use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use rusqlite::{Connection, Transaction};

use super::{Component, Database, DatabaseError};

const LINES: Component = Component {
    name: "lines",
    migrations: &[
        "CREATE TABLE lines (text TEXT NOT NULL) STRICT",
        "ALTER TABLE lines ADD COLUMN author TEXT NOT NULL DEFAULT 'Ann'",
    ],
};

const OLD_LINES: Component =
    Component { name: "lines", migrations: &["CREATE TABLE lines (text TEXT NOT NULL) STRICT"] };

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    (folder, path)
}

fn database(path: &Path) -> Database {
    let database = Database::open(path).unwrap();
    database.migrate(&LINES).unwrap();
    database
}

fn add(transaction: &Transaction<'_>, text: &str) -> rusqlite::Result<usize> {
    transaction.execute("INSERT INTO lines (text) VALUES (?1)", [text])
}

fn lines(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT text FROM lines ORDER BY rowid")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Adds a line on the writer's thread, which then waits until the returned sender is used or dropped.
fn blocked(database: &Database) -> std::sync::mpsc::Sender<()> {
    let (release, released) = channel();
    let (started, start) = channel();
    database.write_then(
        move |transaction| {
            started.send(()).unwrap();
            let _ = released.recv();
            add(transaction, "first")
        },
        drop,
    );
    start.recv().unwrap();
    release
}

#[tokio::test]
async fn changes_that_come_during_another_are_committed_with_it_in_their_order() {
    let (_folder, path) = folder();
    let database = database(&path);
    let release = blocked(&database);
    database.write_then(|transaction| add(transaction, "second"), drop);
    let (committed, third) = channel();
    let add_third = move |transaction: &Transaction<'_>| {
        add(transaction, "third")?;
        lines(&Connection::open(path)?)
    };
    database.write_then(add_third, move |seen| committed.send(seen).unwrap());
    release.send(()).unwrap();
    assert!(third.recv().unwrap().unwrap().is_empty(), "none is committed before the third");
    assert_eq!(database.read(lines).await.unwrap(), ["first", "second", "third"]);
}

#[tokio::test]
async fn whether_another_process_has_written_is_seen_while_a_write_is_made() {
    let (_folder, path) = folder();
    let (database, other) = (database(&path), database(&path));
    let before = database.version().await.unwrap();
    let release = blocked(&database);
    assert_eq!(database.version().await.unwrap(), before, "nothing was committed");
    release.send(()).unwrap();
    other.write(|transaction| add(transaction, "second")).await.unwrap();
    assert_ne!(database.version().await.unwrap(), before);
}

#[tokio::test]
async fn a_change_that_fails_or_panics_is_undone_and_its_neighbours_are_kept() {
    let (_folder, path) = folder();
    let database = database(&path);
    let release = blocked(&database);
    let failing = database.write(|transaction| {
        add(transaction, "half")?;
        add(transaction, "fail").and_then(|_| transaction.execute("INSERT INTO nowhere VALUES (1)", []))
    });
    let panicking = database.write(|transaction| -> rusqlite::Result<()> {
        add(transaction, "half")?;
        panic!("on purpose")
    });
    let good = database.write(|transaction| add(transaction, "good"));
    drop(release);
    let (failed, panicked, kept) = tokio::join!(failing, panicking, good);
    assert!(matches!(failed, Err(DatabaseError::Sqlite { .. })), "{failed:?}");
    assert!(matches!(panicked, Err(DatabaseError::Panicked { .. })), "{panicked:?}");
    kept.unwrap();
    assert_eq!(database.read(lines).await.unwrap(), ["first", "good"]);
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_acknowledged_and_later_changes_work_once_there_is_space() {
    let (_folder, path) = folder();
    let database = database(&path);
    let pages = |database: &Database, limit: u32| {
        database.write_blocking(move |transaction| {
            transaction.pragma_update_and_check(None, "max_page_count", limit, |row| row.get::<_, u32>(0))
        })
    };
    let used = pages(&database, 1).unwrap();
    let release = blocked(&database);
    let large = ["a", "b"].map(|letter| database.write(move |transaction| add(transaction, &letter.repeat(100_000))));
    let failed = futures_util::future::join_all(large);
    drop(release);
    for failed in failed.await {
        let error = failed.unwrap_err().into_io();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    }
    assert!(database.read(lines).await.unwrap().iter().all(|line| line == "first"));
    pages(&database, used + 1_000).unwrap();
    database.write(|transaction| add(transaction, &"c".repeat(100_000))).await.unwrap();
}

#[test]
fn dropping_the_last_handle_waits_for_queued_changes() {
    let (_folder, path) = folder();
    let first = database(&path);
    for text in ["1", "2", "3"] {
        first.write_then(move |transaction| add(transaction, text), drop);
    }
    drop(first);
    assert_eq!(database(&path).read_blocking(lines).unwrap(), ["1", "2", "3"]);
}

#[test]
fn the_last_handle_may_be_dropped_by_a_change() {
    let (_folder, path) = folder();
    let (first, (sender, receiver)) = (database(&path), channel());
    let inside = first.clone();
    first.write_then(move |_| Ok(inside), move |inside| drop(sender.send(inside.map(drop))));
    drop(first);
    receiver.recv().unwrap().unwrap();
}

#[tokio::test]
async fn a_change_is_made_even_if_its_future_is_dropped() {
    let (_folder, path) = folder();
    let database = database(&path);
    let release = blocked(&database);
    {
        let mut write = Box::pin(database.write(|transaction| add(transaction, "dropped")));
        assert!(futures_util::poll!(&mut write).is_pending());
    }
    drop(release);
    database.write(|_| Ok(())).await.unwrap();
    assert_eq!(database.read(lines).await.unwrap(), ["first", "dropped"]);
}

#[tokio::test]
async fn reads_do_not_wait_for_a_change_and_survive_a_panic() {
    let (_folder, path) = folder();
    let database = database(&path);
    let _release = blocked(&database);
    for _ in 0..4 {
        let panicked = database.read(|_| -> rusqlite::Result<()> { panic!("on purpose") }).await;
        assert!(matches!(panicked, Err(DatabaseError::Panicked { .. })), "{panicked:?}");
    }
    assert!(database.read(lines).await.unwrap().is_empty());
    let written = database.read(|connection| connection.execute("DELETE FROM lines", [])).await;
    assert!(written.is_err(), "a read cannot write");
}

#[test]
fn two_processes_write_to_one_file() {
    let (_folder, path) = folder();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let database = database(&path);
                for _ in 0..50 {
                    database.write_blocking(|transaction| add(transaction, "line")).unwrap();
                }
            });
        }
    });
    assert_eq!(database(&path).read_blocking(lines).unwrap().len(), 100);
}

#[test]
fn tables_of_an_earlier_version_are_migrated_and_keep_their_rows() {
    let (_folder, path) = folder();
    let first = Database::open(&path).unwrap();
    first.migrate(&OLD_LINES).unwrap();
    first.write_blocking(|transaction| add(transaction, "old")).unwrap();
    drop(first);
    let migrated = database(&path);
    let authors =
        |connection: &Connection| connection.query_row("SELECT author FROM lines", [], |row| row.get::<_, String>(0));
    assert_eq!(migrated.read_blocking(authors).unwrap(), "Ann");
}

#[test]
fn tables_of_a_later_version_are_refused_with_the_name_of_the_file() {
    let (_folder, path) = folder();
    drop(database(&path));
    let error = Database::open(&path).unwrap().migrate(&OLD_LINES).unwrap_err().to_string();
    let expected = format!("cannot open `{}` as a database: its `lines` tables have version 2;", path.display());
    assert!(error.starts_with(&expected), "{error}");
}

#[test]
fn a_file_of_another_kind_is_refused_and_unchanged() {
    let (folder, path) = folder();
    fs::write(&path, "not a database, but longer than a header of one hundred bytes ".repeat(9)).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Database::open(&path).unwrap_err().to_string();
    assert!(error.contains("not an SQLite database"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);

    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = fs::read(&other).unwrap();
    let error = Database::open(&other).unwrap_err().to_string();
    assert!(error.contains("not an llm-do database"), "{error}");
    assert_eq!(fs::read(&other).unwrap(), before);

    let error = Database::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_new_file_and_those_beside_it_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = folder();
    let database = database(&path);
    database.write_blocking(|transaction| add(transaction, "secret")).unwrap();
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_write_does_not_wait_until_all_space_is_given_back() {
    let (_folder, path) = folder();
    let database = database(&path);
    // About three portions.
    for _ in 0..100 {
        database.write(|transaction| add(transaction, &"x".repeat(100_000))).await.unwrap();
    }
    database.write(|transaction| transaction.execute("DELETE FROM lines", [])).await.unwrap();
    let release = blocked(&database);
    let (ended, order) = channel();
    let shrunk = ended.clone();
    database.0.access.shrink(move |result| shrunk.send(("shrunk", result.is_ok())).unwrap());
    // Made together with the first portion; what it queues comes after that.
    let later = database.clone();
    let queue = move |_: &Transaction<'_>| {
        later.write_then(|transaction| add(transaction, "later"), move |_| ended.send(("written", true)).unwrap());
        Ok(())
    };
    database.write_then(queue, drop);
    release.send(()).unwrap();
    assert_eq!(order.iter().collect::<Vec<_>>(), [("written", true), ("shrunk", true)]);
}

#[tokio::test]
async fn deleted_rows_give_their_space_back() {
    let (_folder, path) = folder();
    let database = database(&path);
    for _ in 0..30 {
        database.write(|transaction| add(transaction, &"x".repeat(100_000))).await.unwrap();
    }
    database.write(|transaction| transaction.execute("DELETE FROM lines", [])).await.unwrap();
    let size = |path: &PathBuf| fs::metadata(path).unwrap().len();
    database.shrink().await.unwrap();
    assert!(size(&path) < 100_000, "{} bytes", size(&path));
}
