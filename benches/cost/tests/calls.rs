//! A call costs what the table in the README records.

use std::io::{self, Write};
use std::process::Command;

#[test]
fn a_call_takes_at_most_3_percent_more_instructions_than_recorded() {
    let check = Command::new(env!("CARGO_BIN_EXE_call-cost")).arg("--check").output().unwrap();
    let (report, error) = (String::from_utf8_lossy(&check.stdout), String::from_utf8_lossy(&check.stderr));
    // Why it was skipped, if it was.
    writeln!(io::stderr(), "{error}").unwrap();
    assert!(check.status.success(), "{report}{error}");
}
