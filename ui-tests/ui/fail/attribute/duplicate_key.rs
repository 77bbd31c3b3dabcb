//! A key can be given only once.

#![allow(unused)]

use llm_do::{tool, worker};

/// Ping.
#[tool(name = "ping", inline, name = "pong", inline)]
fn ping(#[arg(default = 1, default = 2)] times: u8, #[arg(default = 1)] #[arg(rename = "n")] number: u8) {}

/// Judge.
#[worker(model = "test:one", model = "test:two")]
async fn judge() -> u8;


fn main() {}
