//! A type that is not written out is told by the compiler as well: it asks the same of every function.

#![allow(unused)]

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping(unknown: _, list: Vec<_>) {}

#[entry]
fn start() -> Option<_> {
    Some(3)
}

fn main() {}
