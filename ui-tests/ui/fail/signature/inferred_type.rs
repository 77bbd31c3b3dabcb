//! `_` is not allowed in a signature; the compiler reports it too.

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
