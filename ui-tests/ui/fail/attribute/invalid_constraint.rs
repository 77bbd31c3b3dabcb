//! schemars reports a constraint that does not exist, at its tokens.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(#[schemars(rang(min = 3))] number: u8, #[schemars(length(min = "a"))] text: String) {}

fn main() {}
