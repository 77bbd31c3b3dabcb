//! The command line of each measurement, which is also that of the processes that it starts.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::compare::{self, Way};
use crate::http::Pace;
use crate::load::Load;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    load: Load,
    /// How many rounds there are of each way.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Has the server write its answers a kibibyte at a time, every other millisecond, as models do, and not at once.
    #[arg(long)]
    paced: bool,
}

/// What the processes do that are started for it.
#[derive(Debug, Subcommand)]
enum Part {
    /// Serves until it is ended, once it has written its address.
    Serve {
        /// As models write, and not at once.
        #[arg(long)]
        paced: bool,
    },
    /// Measures one way.
    Measure {
        /// Its name, as it is shown.
        way: String,
        base_url: String,
        #[command(flatten)]
        load: Load,
    },
}

/// Compares all ways, or does what the arguments say.
///
/// # Errors
///
/// Returns an error if a process cannot be started, or if there is no way of that name.
pub fn run<W: Way>() -> io::Result<ExitCode> {
    let Arguments { part, load, rounds, paced } = Arguments::parse();
    match part {
        None => compare::compare::<W>(&load, rounds, paced),
        Some(Part::Serve { paced }) => {
            let pace = if paced { Pace::Models } else { Pace::AtOnce };
            compare::serve(W::ANSWERING, pace).map(|()| ExitCode::SUCCESS)
        }
        Some(Part::Measure { way, base_url, load }) => {
            let known = W::all().into_iter().find(|known| known.name() == way);
            let known = known.ok_or_else(|| io::Error::other(format!("there is no way `{way}`")))?;
            writeln!(io::stdout(), "{}", known.measure(&base_url, &load))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
