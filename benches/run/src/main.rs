//! What a run costs beside its model: CPU time of a worker's six turns, five of them calls of a tool, against the same
//! exchanges written by hand.
//!
//! The server is a process of its own, so that the time of a client is the client's alone; it answers from memory, over
//! connections that are kept. Each measurement is a fresh process too, warmed up first. Rounds of all ways alternate, and
//! medians are shown: in times of the same by hand, which streams and leaves the async threads where ours does, and of the
//! plainest by hand, which does neither.

mod by_hand;
mod client;
mod compare;
mod ours;
mod server;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use self::client::{Load, Way};

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
        None => compare::compare(&load, rounds),
        Some(Part::Serve) => serve().map(|()| ExitCode::SUCCESS),
        Some(Part::Measure { way, base_url, load }) => {
            writeln!(io::stdout(), "{}", client::measure(way, &base_url, &load))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn serve() -> io::Result<()> {
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "http://{}/v1", listener.local_addr()?)?;
        server::serve(listener, None).await
    })
}
