//! A function can be registered only once.

#![allow(unused)]

use llm_do::{entry, tool, worker};

/// Ping.
#[tool]
#[entry]
fn ping() {}

/// Pong.
#[tool]
#[llm_do::tool(name = "other")]
fn pong() {}

/// Judge.
#[entry]
#[worker]
async fn judge(input: String) -> u8 {
    3
}

fn main() {
    ping();
}
