//! Measures the CPU time of a run without its model: a worker of six turns, five of them with a tool call.
//!
//! Each variant is compared with hand-written code that does the same (streaming, tools off the async threads), and with
//! the simplest hand-written code, which does neither.

mod answers;
mod by_hand;
mod client;
#[cfg(feature = "serve")]
mod journaled;
mod ours;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;

use cost::command;

use self::client::Variant;

fn main() -> io::Result<ExitCode> {
    command::run::<Variant>()
}
