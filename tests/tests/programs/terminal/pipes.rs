//! Named pipes in place of files.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;

use super::session::Session;

/// Creates a named pipe in a temporary folder.
fn pipe(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    (folder, path)
}

#[test]
fn the_user_is_informed_of_the_wait_for_an_attached_pipe() {
    let (_folder, path) = pipe("pipe");
    let file = path.to_str().unwrap();
    let mut session = Session::start(&["run", "--tool", "look_at", "--attach", file, "What?"]);
    session.wait_for("waiting for");
    session.wait_for("pipe");
    OpenOptions::new().write(true).open(&path).unwrap().write_all(b"content").unwrap();
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn the_user_is_informed_of_the_wait_for_an_events_pipe() {
    let (_folder, path) = pipe("pipe");
    let file = path.to_str().unwrap();
    let mut session = Session::start(&["run", "--tool", "echo", "--events", file, "hello"]);
    session.wait_for("waiting for");
    let mut text = String::new();
    File::open(&path).unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("call_finished"), "{text}");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn a_run_that_waits_for_a_blocked_events_pipe_can_be_interrupted() {
    let (_folder, path) = pipe("pipe");
    // More than the pipe's buffer holds.
    let input = r#"{"times":200}"#;
    let mut session =
        Session::start(&["run", "--tool", "shout", "--events", path.to_str().unwrap(), "--input-json", input]);
    let reader = File::open(&path).unwrap();
    session.wait_for("waiting for the --events file");
    session.interrupt();
    assert_eq!(session.end().0, Some(1));
    drop(reader);
}

#[test]
fn a_pipe_among_worker_files_and_a_pipe_as_journal_are_refused() {
    let (folder, path) = pipe("a.worker");
    let session = Session::start(&["check", "--worker-dir", folder.path().to_str().unwrap()]);
    let (code, rows) = session.end();
    assert_eq!(code, Some(1));
    assert!(super::text(&rows).contains("pipe"), "{}", super::text(&rows));
    let (code, rows) = Session::start(&["journal", path.to_str().unwrap()]).end();
    assert_eq!(code, Some(1), "{}", super::text(&rows));
    let (code, rows) = Session::start(&["run", "--tool", "echo", "--journal", path.to_str().unwrap(), "x"]).end();
    assert_eq!(code, Some(1), "{}", super::text(&rows));
}
