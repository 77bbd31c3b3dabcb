//! An application that is configured by code that waits and may fail.

use std::process::{Command, Output, Stdio};

fn connected(arguments: &[&str], is_down: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_connected"));
    if is_down {
        command.env("DATABASE_IS_DOWN", "1");
    }
    command.args(arguments).env("LLM_DO_CONFIG", "").stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_call_uses_what_was_connected_before_it() {
    let output = connected(&["call", "count_rows"], false);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "3\n"), "{}", text(&output.stderr));
}

#[test]
fn a_failed_connection_ends_the_program_before_the_call() {
    let output = connected(&["call", "count_rows"], true);
    let error = "error: cannot configure the application: the database is down\n";
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), error));
}

#[test]
fn tools_are_listed_and_checked_without_a_connection() {
    let output = connected(&["tools"], true);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("count_rows"), "{}", text(&output.stdout));
    let output = connected(&["check"], true);
    let checked = "ok (entries: 0, workers: 0, tools: ";
    assert!(text(&output.stdout).starts_with(checked), "{}", text(&output.stderr));
}
