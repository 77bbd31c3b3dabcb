//! Programs with a command line, run as processes; projects of files, the page of a run, and the documents.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../shared/required.rs"]
mod required;

mod changed;
mod cli;
mod connected;
mod kill;
mod long_runs;
mod page;
mod project;
mod readme;
#[cfg(unix)]
mod recorded;
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
