//! An example has the type of its argument.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(#[arg(example = "three")] times: u8, #[arg(example = 3)] loud: bool, #[arg(example = Missing)] other: u8) {}

fn main() {}
