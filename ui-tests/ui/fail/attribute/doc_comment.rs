//! Without a description no model knows when to call; an entry is called by people.

#![allow(unused)]

use llm_do::{entry, tool, worker};

#[tool]
fn ping() {}

///
#[tool(description = " ")]
fn pong() {}

#[worker(instructions = "Judge.")]
async fn judge() -> u8;

#[entry]
fn start() {}


fn main() {}
