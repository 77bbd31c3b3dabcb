//! Compares the counts with those of the table in the README.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::case::Case;
use crate::counts::{allocations, instructions};

const README: &str = include_str!("../../../README.md");
/// How much higher a count may be than the recorded one, for other versions of the compiler and the C library.
const TOLERANCE: f64 = 1.03;

/// Where the table has the instructions: a test is compiled without optimisation, and counts some cases only, since it is slow.
const INSTRUCTIONS: usize = if cfg!(debug_assertions) { 3 } else { 2 };

/// The counts of a row of the table.
pub(crate) struct Recorded {
    pub(crate) instructions: Option<f64>,
    pub(crate) allocations: Option<f64>,
}

/// Prints each case with its counts, and whether they are higher than recorded.
pub(crate) fn check() -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut outcome = ExitCode::SUCCESS;
    for case in Case::all() {
        let name = case.name();
        let Some(recorded) = recorded(&name) else {
            return Err(io::Error::other(format!("the README has no row for `{name}`")));
        };
        let Some(most) = recorded.instructions else { continue };
        let mut counts = vec![("instructions", instructions(case)?, most)];
        // Tests count allocations without valgrind.
        if let Some(most) = recorded.allocations.filter(|_| !cfg!(debug_assertions)) {
            counts.push(("allocations", allocations(case)?, most));
        }
        for (what, count, most) in counts {
            let is_within = count <= most * TOLERANCE;
            let verdict = if is_within { "ok" } else { "higher than recorded" };
            writeln!(out, "{name:16}{count:>10.1} {what}, recorded {most}: {verdict}")?;
            if !is_within {
                outcome = ExitCode::FAILURE;
            }
        }
    }
    Ok(outcome)
}

/// Returns the counts of a row of the table: `| case | instructions | instructions in a test | allocations |`.
pub(crate) fn recorded(case: &str) -> Option<Recorded> {
    let cells = |row: &'static str| row.split('|').map(str::trim).collect::<Vec<_>>();
    let row =
        README.lines().map(cells).find(|cells| cells.get(1).is_some_and(|cell| cell.trim_matches('`') == case))?;
    let number = |place: usize| row.get(place)?.replace(',', "").parse().ok();
    Some(Recorded { instructions: number(INSTRUCTIONS), allocations: number(4) })
}
