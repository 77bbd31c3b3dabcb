//! An unknown key is reported with a suggestion, the keys and where they are documented.

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
