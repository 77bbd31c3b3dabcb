//! A default cannot refer to another parameter: it is part of the schema.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(first: u8, #[arg(default = first + 1)] second: u8) {}

fn main() {}
