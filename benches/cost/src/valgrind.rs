//! Runs this program under valgrind, which counts the same on a busy machine.

use std::env;
use std::io;
use std::process::{Command, Output};

/// Returns whether valgrind is installed.
#[must_use]
pub fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the instructions that this program takes with the given arguments; `out` is the path of the counts by line.
///
/// # Errors
///
/// Returns an error if valgrind cannot be started, or if the program fails.
pub fn instructions(arguments: &[&str], out: &str) -> io::Result<f64> {
    let out = format!("--cachegrind-out-file={out}");
    figure(&run(&["--tool=cachegrind", "--cache-sim=no", &out], arguments)?, "I   refs:")
}

/// Returns the allocations that this program makes with the given arguments.
///
/// # Errors
///
/// Returns an error if valgrind cannot be started, or if the program fails.
pub fn allocations(arguments: &[&str]) -> io::Result<f64> {
    figure(&run(&["--tool=memcheck", "--leak-check=no"], arguments)?, "total heap usage:")
}

/// Runs this program under valgrind, and returns what valgrind reports.
fn run(options: &[&str], arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new("valgrind");
    command.args(options).arg(env::current_exe()?).args(arguments);
    let Output { status, stderr, .. } = command.output()?;
    let report = String::from_utf8_lossy(&stderr).into_owned();
    if status.success() { Ok(report) } else { Err(io::Error::other(report)) }
}

/// Returns the first number after a label.
fn figure(report: &str, label: &str) -> io::Result<f64> {
    let rest = report.split_once(label).map(|(_, rest)| rest.trim_start());
    let digits = rest.and_then(|rest| rest.split_whitespace().next()).map(|number| number.replace(',', ""));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| io::Error::other(format!("valgrind reported no `{label}`:\n{report}")))
}
