//! The name of a parameter is the name of the argument, so it cannot be a pattern.

#![allow(unused)]

use llm_do::{State, data, tool, worker};

#[data]
struct Range {
    from: u8,
}

/// Ping.
#[tool]
fn ping(
    (a, b): (u8, u8),
    _: String,
    ref c: String,
    d @ 0..: u8,
    Range { from }: Range,
    [first, ..]: [u8; 3],
    &e: &u8,
    ref mut f: String,
) -> usize {
    usize::from(a + b + d) + c.len()
}

/// Fine: what is injected has no name in the schema.
#[tool]
fn pong(_: State<u8>, #[ctx] State { .. }: State<u8>) {}

/// Judge.
#[worker]
async fn judge(_: String, (one, two): (u8, u8)) -> u8;

fn main() {}
