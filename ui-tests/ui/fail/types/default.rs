//! A default is of its argument's type.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(#[arg(default = "three")] times: u8, #[arg(default = 3)] loud: bool) {}

fn main() {}
