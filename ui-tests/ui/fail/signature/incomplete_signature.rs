//! The compiler reports an incomplete signature; other items still expand.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(text String) -> u8 {
    3
}

/// Fine.
#[tool]
fn pong() {}

fn main() {
    pong();
}
