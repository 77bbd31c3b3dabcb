//! What a run costs beside its model: CPU time of a worker's six turns, five of them calls of a tool, against the same
//! exchanges written by hand: in times of the same by hand, which streams and leaves the async threads where ours does, and
//! of the plainest by hand, which does neither.

mod answers;
mod by_hand;
mod client;
mod ours;
#[cfg(test)]
mod tests;

use std::io;
use std::process::ExitCode;

use cost::command;

use self::client::Way;

fn main() -> io::Result<ExitCode> {
    command::run::<Way>()
}
