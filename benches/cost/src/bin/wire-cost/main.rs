//! What one exchange with a provider costs beside its model: CPU time and memory for an answer of 5,000 deltas, and for a
//! request with a history and tools and its whole answer, against plain `reqwest` and `serde_json` doing the same.

mod answers;
mod by_hand;
mod client;
mod question;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;

use cost::command;

use self::client::Way;

fn main() -> io::Result<ExitCode> {
    command::run::<Way>()
}
