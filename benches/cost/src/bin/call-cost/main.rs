//! Counts what one call by name costs among 100 tools, from the JSON text of its arguments to the JSON text of its result.
//!
//! Each case runs in processes of its own, under valgrind, 500 and then 2500 times; a call costs a 2000th of the
//! difference. With `--phases` the table shows where the instructions of a case go; that needs the lines of
//! the source: `CARGO_PROFILE_RELEASE_DEBUG=line-tables-only`.

mod by_hand;
mod case;
mod counts;
mod ours;
mod phases;
mod recorded;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use cost::valgrind;

use self::case::Case;
use self::counts::{Counts, counts};

/// The arguments of the call.
const ARGUMENTS: &str = r#"{"a":20,"b":22,"note":"a short note"}"#;
/// The tool that is called, one of a hundred.
const TOOL: &str = "add42";

#[derive(Debug, Parser)]
#[command(about = "Counts what one call costs, from text to text")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Role>,
    /// Show where the instructions of a case go.
    #[arg(long, value_name = "CASE")]
    phases: Option<Case>,
    /// Compare the counts with the recorded ones, and fail if one is more than 3% higher.
    #[arg(long, conflicts_with = "phases")]
    check: bool,
}

/// The role of a process that the benchmark starts.
#[derive(Debug, Subcommand)]
enum Role {
    /// Make a number of calls.
    Run { case: Case, times: u32 },
}

fn main() -> io::Result<ExitCode> {
    let Arguments { command, phases, check } = Arguments::parse();
    if let Some(Role::Run { case, times }) = command {
        case.run(times);
        return Ok(ExitCode::SUCCESS);
    }
    if !valgrind::is_installed() {
        writeln!(io::stderr(), "skipped: `valgrind` is not installed")?;
        return Ok(ExitCode::SUCCESS);
    }
    match phases {
        Some(case) => phases::show(case)?,
        None if check => return recorded::check(),
        None => show()?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the costs of all cases.
fn show() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:24}{:>14}{:>10}{:>14}{:>10}", "case", "instructions", "/ hand", "allocations", "ns")?;
    let mut base = None;
    for case in Case::all() {
        let Counts { instructions, allocations } = counts(case)?;
        let ratio = instructions / *base.get_or_insert(instructions);
        let name = case.name();
        writeln!(out, "{name:24}{instructions:>14.0}{ratio:>9.2}x{allocations:>14.1}{:>10.0}", nanoseconds(case))?;
    }
    Ok(())
}

/// Returns the time of one call: the least of several rounds, since nothing makes a call faster than it is.
fn nanoseconds(case: Case) -> f64 {
    // A worker's turns have a history, which grows.
    let calls = if case == Case::Turn { 100 } else { 20_000 };
    case.run(calls);
    let round = || {
        let start = Instant::now();
        case.run(calls);
        start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
    };
    (0..9).map(|_| round()).fold(f64::INFINITY, f64::min)
}
