//! A default has the type of its argument.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(#[arg(default = "three")] times: u8, #[arg(default = 3)] loud: bool) {}

fn main() {}
