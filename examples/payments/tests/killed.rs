//! The program is killed between a payment and its record.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use std::{fs, thread};

const PROGRAM: &str = env!("CARGO_BIN_EXE_payments");

fn program(folder: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg(folder).env_remove("SLOW_BANK").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn finish(folder: &Path) -> Output {
    let output = program(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

fn ledger(folder: &Path) -> Vec<String> {
    let ledger = fs::read_to_string(folder.join("ledger.txt")).unwrap_or_default();
    ledger.lines().filter_map(|line| line.split_once(' ')).map(|(_, bill)| bill.to_owned()).collect()
}

/// Kills the program once the bank has this number of payments, before the last one is recorded.
fn kill_after(folder: &Path, payments: usize) {
    let mut child: Child = program(folder).env("SLOW_BANK", "1").spawn().unwrap();
    while ledger(folder).len() < payments {
        assert_eq!(child.try_wait().unwrap(), None, "the program ended");
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_payment_is_made_once_although_the_program_is_killed_between_it_and_its_record() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Each process finds out about the payment of the one before, and makes the next.
    for payments in 1..=3 {
        kill_after(folder, payments);
    }
    let output = finish(folder);
    let receipts = String::from_utf8(output.stdout).unwrap();
    assert_eq!(receipts, "receipt of bill 1, receipt of bill 2, receipt of bill 3\n");
    assert_eq!(ledger(folder), ["bill 1", "bill 2", "bill 3"]);
    let asked = String::from_utf8(output.stderr).unwrap();
    assert!(!asked.contains("asked about"), "the bank answers: {asked}");
}

#[test]
fn a_payment_that_began_and_was_not_made_is_approved_again_and_made() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    kill_after(folder, 1);
    // As if the process had died before the bank got the request.
    fs::remove_file(folder.join("ledger.txt")).unwrap();
    let output = finish(folder);
    assert_eq!(ledger(folder), ["bill 1", "bill 2", "bill 3"]);
    let asked = String::from_utf8(output.stderr).unwrap();
    assert_eq!(asked.matches("asked about a call: ").count(), 3, "{asked}");
}
