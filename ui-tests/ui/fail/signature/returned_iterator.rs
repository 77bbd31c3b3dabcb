//! An iterator has no JSON.

#![allow(unused)]

use llm_do::{entry, tool};

/// Ping.
#[tool]
fn ping() -> impl Iterator<Item = u8> {
    [1, 2].into_iter()
}

#[entry]
fn start() -> Option<std::vec::IntoIter<u8>> {
    None
}

fn main() {}
