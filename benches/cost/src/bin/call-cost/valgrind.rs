//! Counts of instructions and allocations, by valgrind.

use std::env;
use std::io;
use std::process::{Command, Output};

use crate::case::Case;

/// The two numbers of calls whose difference is measured, so that what is done once does not count. Tests make fewer, since they are
/// slow; with a hundred instead of a thousand, the start of the process would change the count by 2%.
const FEW: u32 = if cfg!(debug_assertions) { 10 } else { 500 };
const MANY: u32 = if cfg!(debug_assertions) { 1010 } else { 2500 };

/// The cost of one call.
pub(crate) struct Counts {
    pub(crate) instructions: f64,
    pub(crate) allocations: f64,
}

pub(crate) fn is_installed() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the cost of one call.
pub(crate) fn counts(case: Case) -> io::Result<Counts> {
    Ok(Counts { instructions: instructions(case)?, allocations: allocations(case)? })
}

/// Returns the instructions of one call.
pub(crate) fn instructions(case: Case) -> io::Result<f64> {
    let count = |times| figure(&cachegrind(case, times, "/dev/null")?, "I   refs:");
    Ok(per_call(count(FEW)?, count(MANY)?))
}

/// Returns the allocations of one call.
pub(crate) fn allocations(case: Case) -> io::Result<f64> {
    let count = |times| figure(&run(&["--tool=memcheck", "--leak-check=no"], case, times)?, "total heap usage:");
    Ok(per_call(count(FEW)?, count(MANY)?))
}

/// Returns the instructions of one call by file of the source, with the counts of cachegrind's output.
pub(crate) fn by_file<K: Ord>(case: Case, count: impl Fn(&str) -> Vec<(K, f64)>) -> io::Result<Vec<(K, f64)>> {
    let counted = |times| {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("out");
        cachegrind(case, times, &path.display().to_string())?;
        let counted: std::collections::BTreeMap<K, f64> = count(&std::fs::read_to_string(path)?).into_iter().collect();
        io::Result::Ok(counted)
    };
    let few = counted(FEW)?;
    let many = counted(MANY)?.into_iter();
    Ok(many
        .map(|(key, count)| {
            let before = few.get(&key).copied().unwrap_or_default();
            (key, per_call(before, count))
        })
        .collect())
}

fn per_call(few: f64, many: f64) -> f64 {
    (many - few) / f64::from(MANY - FEW)
}

fn cachegrind(case: Case, times: u32, out: &str) -> io::Result<String> {
    let out = format!("--cachegrind-out-file={out}");
    run(&["--tool=cachegrind", "--cache-sim=no", &out], case, times)
}

/// Runs this program under valgrind, and returns what valgrind reports.
fn run(options: &[&str], case: Case, times: u32) -> io::Result<String> {
    let mut command = Command::new("valgrind");
    command.args(options).arg(env::current_exe()?).args(["run", &case.name(), &times.to_string()]);
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
