//! What one exchange with a provider costs beside its model: CPU time and memory for an answer of 5,000 deltas, and for a
//! request with a history and tools and its whole answer, against plain `reqwest` and `serde_json` doing the same.

mod answers;
mod by_hand;
mod client;
mod question;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cost::compare;
use cost::load::Load;

use self::client::Way;

/// The most that an exchange of ours may take, in times of one by hand.
const MOST: f64 = 1.3;

#[derive(Debug, Parser)]
#[command(about = "What one exchange with a provider costs, against plain reqwest and serde_json doing the same")]
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
        /// Such as `anthropic-streamed-by-hand`.
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
