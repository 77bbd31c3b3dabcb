//! A misspelled type is told once, not once for each place in the generated code.

#![allow(unused)]

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping(path: PathBuf) -> Reveiw {}

#[entry]
fn start(path: Vec<PathBuf>) -> Result<Reveiw, std::fmt::Error> {}


fn main() {}
