//! What is not a function can do nothing.

#![allow(unused)]

/// Ping.
#[llm_do::tool]
struct Ping;

/// Pong.
#[llm_do::entry(name = "pong")]
const PONG: u8 = 3;

fn main() {
    let _ = (Ping, PONG);
}
