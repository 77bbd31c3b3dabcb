//! Compares the counts with those of the table in the README.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::case::Case;
use crate::valgrind::{Counts, counts};

const README: &str = include_str!("../../../README.md");
/// How much higher a count may be than the recorded one, for other versions of the compiler and the C library.
const TOLERANCE: f64 = 1.03;

/// Prints each case whose counts are higher than recorded.
pub(crate) fn check() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut outcome = ExitCode::SUCCESS;
    for case in Case::all() {
        let name = case.name();
        let Some(recorded) = recorded(&name) else {
            return Err(io::Error::other(format!("the README has no row for `{name}`")));
        };
        let Counts { instructions, allocations } = counts(case)?;
        let is_within =
            instructions <= recorded.instructions * TOLERANCE && allocations <= recorded.allocations * TOLERANCE;
        let verdict = if is_within { "ok" } else { "higher than recorded" };
        writeln!(out, "{name:24}{instructions:>10.0} instructions{allocations:>8.1} allocations: {verdict}")?;
        if !is_within {
            outcome = ExitCode::FAILURE;
        }
    }
    Ok(outcome)
}

/// Returns the counts of a row of the table: `| case | instructions | allocations |`.
pub(crate) fn recorded(case: &str) -> Option<Counts> {
    let cells = |row: &'static str| row.split('|').map(str::trim).collect::<Vec<_>>();
    let row =
        README.lines().map(cells).find(|cells| cells.get(1).is_some_and(|cell| cell.trim_matches('`') == case))?;
    let number = |place: usize| row.get(place)?.replace(',', "").parse().ok();
    Some(Counts { instructions: number(2)?, allocations: number(3)? })
}
