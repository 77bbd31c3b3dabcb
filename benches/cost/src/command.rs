//! The command line of each benchmark and of the processes that it starts.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::compare::{self, Variant};
use crate::http::Pace;
use crate::load::Load;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Role>,
    #[command(flatten)]
    load: Load,
    /// Number of rounds of each variant.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Write answers in chunks of 1 KiB, one every 2 milliseconds, instead of all bytes immediately.
    #[arg(long)]
    paced: bool,
    /// Count the instructions of one operation with valgrind instead: they do not depend on other load of the machine.
    #[arg(long, conflicts_with_all = ["paced", "rounds"])]
    instructions: bool,
}

/// The role of a process that the benchmark starts.
#[derive(Debug, Subcommand)]
enum Role {
    /// Write the address of a server to the standard output and serve until killed.
    Serve {
        /// Write answers in chunks, as models do.
        #[arg(long)]
        paced: bool,
    },
    /// Measure one variant.
    Measure {
        /// Name of the variant, as in the table.
        variant: String,
        base_url: String,
        #[command(flatten)]
        load: Load,
    },
}

/// Compares all variants, or takes the role in the arguments.
///
/// # Errors
///
/// Returns an error if a process cannot be started, or if the variant is unknown.
pub fn run<W: Variant>() -> io::Result<ExitCode> {
    let Arguments { command, load, rounds, paced, instructions } = Arguments::parse();
    match command {
        None if instructions => compare::count::<W>().map(|()| ExitCode::SUCCESS),
        None => compare::compare::<W>(&load, rounds, paced),
        Some(Role::Serve { paced }) => {
            let pace = if paced { Pace::Chunked } else { Pace::Immediate };
            compare::serve(W::RESPONDER, pace).map(|()| ExitCode::SUCCESS)
        }
        Some(Role::Measure { variant, base_url, load }) => {
            let known = W::all().into_iter().find(|known| known.name() == variant);
            let known = known.ok_or_else(|| io::Error::other(format!("unknown variant `{variant}`")))?;
            writeln!(io::stdout(), "{}", known.measure(&base_url, &load))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
