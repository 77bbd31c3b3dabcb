//! A description may be a constant, so the compiler reports one that is not a string.

#![allow(unused)]

use llm_do::{entry, tool, worker};

const NUMBER: u8 = 3;

/// Ping.
#[tool(description = NUMBER)]
fn ping(#[arg(description = NUMBER)] number: u8) {}

/// Judge.
#[worker(instructions = NUMBER)]
async fn judge(input: String) -> u8;

#[entry(description = Missing)]
fn start() {}

fn main() {}
