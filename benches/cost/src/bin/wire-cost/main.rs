//! Measures the CPU time and memory of one provider request, compared with plain `reqwest` and `serde_json`.
//!
//! The request has a history and tools; the answer is streamed in 5,000 deltas, or not streamed.

mod answers;
mod by_hand;
mod client;
mod question;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;

use cost::command;

use self::client::Variant;

fn main() -> io::Result<ExitCode> {
    command::run::<Variant>()
}
