//! Two processes with one run in one file: the second takes over from one that is stopped or killed.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use llm_do::journal::{SqliteJournal, StepKind};
use rustix::process::{Pid, Signal, kill_process};

/// What stops the first process.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    Kill,
    /// It goes on after the second has ended.
    Stall,
}

fn start(folder: &Path, owner: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_journaled"));
    command.args(["ledger", "prompt"]).arg(folder).arg(owner).stdout(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Returns the last line of the output, which is the result or the error.
fn result(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().last().unwrap_or_default().to_owned()
}

fn effects(folder: &Path) -> BTreeMap<String, usize> {
    let mut effects = BTreeMap::new();
    for line in fs::read_to_string(folder.join("effects")).unwrap_or_default().lines() {
        *effects.entry(line.to_owned()).or_default() += 1;
    }
    effects
}

/// Stops a process after some effects; the other must end the run, and nothing that was recorded is repeated or lost.
fn take_over(stop: Stop, after: usize, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut first = start(folder.path(), "first");
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    // With an effect, the first process shows that it has the run.
    drop(lines.next().unwrap().unwrap());
    let second = start(folder.path(), "second");
    // On a busy machine, it may be taken over before it is stopped.
    let last = lines.by_ref().take(after).map(Result::unwrap).last();
    match stop {
        Stop::Kill => signal(&first, Signal::KILL),
        Stop::Stall => stall(&first, folder.path()),
    }
    let recorded = recorded(folder.path());
    let before = effects(folder.path());

    assert_eq!(result(second), expected, "{stop:?} after {after}");
    signal(&first, Signal::CONT);
    let late = lines.map_while(Result::ok).last().or(last).unwrap_or_default();
    first.wait().unwrap();
    if stop == Stop::Stall {
        assert!(late.contains("the run `run` was taken over by another process"), "after {after}: {late}");
    }
    let all = effects(folder.path());
    for line in recorded {
        assert_eq!(all[&line], before[&line], "`{line}` was recorded and is repeated");
    }
    assert!(all.values().all(|times| *times <= 2), "{all:?}");
}

/// Stops a process, but not in the middle of a commit: then it has the file, and all processes wait until it goes on.
fn stall(process: &Child, folder: &Path) {
    let file = rusqlite::Connection::open(folder.join("runs.db")).unwrap();
    file.busy_timeout(Duration::ZERO).unwrap();
    loop {
        signal(process, Signal::STOP);
        // All of its threads stop soon.
        std::thread::sleep(Duration::from_millis(1));
        if file.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_ok() {
            return;
        }
        signal(process, Signal::CONT);
        std::thread::sleep(Duration::from_micros(300));
    }
}

/// Returns the lines that tools added, by the records.
fn recorded(folder: &Path) -> Vec<String> {
    let runs = SqliteJournal::open(folder.join("runs.db")).unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let tools = tokio.block_on(runs.records("run")).unwrap().into_iter().filter(|record| &*record.name == "append");
    let tools = tools.filter(|record| record.kind == StepKind::Tool);
    tools.map(|record| record.input["line"].as_str().unwrap().to_owned()).collect()
}

fn uninterrupted() -> String {
    let folder = tempfile::tempdir().unwrap();
    let ended = result(start(folder.path(), "only"));
    assert!(effects(folder.path()).values().all(|times| *times == 1));
    ended
}

#[test]
fn a_run_of_a_killed_process_is_taken_over_and_ends_right() {
    let expected = uninterrupted();
    for after in [1, 7, 20] {
        take_over(Stop::Kill, after, &expected);
    }
}

#[test]
fn a_run_of_a_stalled_process_is_taken_over_and_the_stalled_one_records_nothing_more() {
    let expected = uninterrupted();
    for after in [1, 7, 20] {
        take_over(Stop::Stall, after, &expected);
    }
}
