//! A tool and a worker need a description for models; an entry does not.

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
