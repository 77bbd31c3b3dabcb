//! What a run costs beside its model: CPU time of a worker's six turns, five of them calls of a tool, against the same
//! exchanges written by hand: in times of the same by hand, which streams and leaves the async threads where ours does, and
//! of the plainest by hand, which does neither.

mod answers;
mod by_hand;
mod client;
mod ours;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cost::compare;
use cost::load::Load;

use self::client::Way;

/// The most that a run of ours may take, in times of one by hand.
const MOST: f64 = 2.0;

#[derive(Debug, Parser)]
#[command(about = "What a run costs beside its model, against the same exchanges written by hand")]
struct Arguments {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    load: Load,
    /// How many rounds there are of each way.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
}

/// What the processes do that are started for it.
#[derive(Debug, Subcommand)]
enum Part {
    /// Serves until it is ended, once it has written its address.
    Serve,
    /// Measures one way.
    Measure {
        way: Way,
        base_url: String,
        #[command(flatten)]
        load: Load,
    },
}

fn main() -> io::Result<ExitCode> {
    let Arguments { part, load, rounds } = Arguments::parse();
    match part {
        None => compare::compare::<Way>(&load, rounds, MOST),
        Some(Part::Serve) => compare::serve(answers::answer).map(|()| ExitCode::SUCCESS),
        Some(Part::Measure { way, base_url, load }) => {
            writeln!(io::stdout(), "{}", client::measure(way, &base_url, &load))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
