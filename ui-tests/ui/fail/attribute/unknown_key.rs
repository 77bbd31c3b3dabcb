//! A key that no attribute has is answered with the grammar, and with the key that was meant.

#![allow(unused)]

use llm_do::{entry, tool, worker};

/// Ping.
#[tool(toolset = [])]
fn ping() {}

/// Judge.
#[worker(toolset = [], temperature = 3)]
async fn judge() -> u8;

#[entry(model = "test")]
fn start() {}

/// Wait.
#[tool]
fn wait(#[arg(defaults = 3)] seconds: u8) {}


fn main() {}
