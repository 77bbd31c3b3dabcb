//! Named pipes in the place of files.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Command;

use crate::session::Session;

/// A named pipe in a folder that is removed.
fn pipe(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    (folder, path)
}

#[test]
fn a_pipe_that_is_attached_is_waited_for_and_the_user_knows() {
    let (_folder, path) = pipe("pipe");
    let file = path.to_str().unwrap();
    let mut session = Session::start(&["run", "--tool", "look_at", "--attach", file, "What?"]);
    session.wait_for("waiting for");
    session.wait_for("pipe");
    OpenOptions::new().write(true).open(&path).unwrap().write_all(b"content").unwrap();
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn a_pipe_for_events_is_waited_for_and_the_user_knows() {
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
fn a_run_whose_events_nobody_reads_can_be_ended() {
    let (_folder, path) = pipe("pipe");
    // More than a pipe holds.
    let input = r#"{"times":200}"#;
    let mut session =
        Session::start(&["run", "--tool", "shout", "--events", path.to_str().unwrap(), "--input-json", input]);
    let reader = File::open(&path).unwrap();
    session.wait_for("waiting for the events");
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
    assert!(crate::text(&rows).contains("pipe"), "{}", crate::text(&rows));
    let (code, rows) = Session::start(&["journal", path.to_str().unwrap()]).end();
    assert_eq!(code, Some(1), "{}", crate::text(&rows));
    let (code, rows) = Session::start(&["run", "--tool", "echo", "--journal", path.to_str().unwrap(), "x"]).end();
    assert_eq!(code, Some(1), "{}", crate::text(&rows));
}
