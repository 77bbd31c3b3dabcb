//! While a signature is being typed, it is told what is missing, in the compiler's words; the others stand.

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
