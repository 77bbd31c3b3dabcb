//! A default knows no other parameter: it is shown to models before there is a call.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(first: u8, #[arg(default = first + 1)] second: u8) {}

fn main() {}
