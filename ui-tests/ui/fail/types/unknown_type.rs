//! An unknown type is reported once, not for each use in generated code.

#![allow(unused)]

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping(path: PathBuf) -> Reveiw {}

#[entry]
fn start(path: Vec<PathBuf>) -> Result<Reveiw, std::fmt::Error> {}


fn main() {}
