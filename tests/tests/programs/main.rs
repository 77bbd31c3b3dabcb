//! Programs with a command line, run as processes.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod cli;
mod kill;
mod remembers;
#[cfg(unix)]
mod runs;
#[cfg(unix)]
mod serve;
mod stock;
#[cfg(target_os = "linux")]
mod taken_over;
mod terminal;
mod trace;
