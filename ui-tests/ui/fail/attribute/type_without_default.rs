//! `default` without a value requires `Default`.

#![allow(unused)]

use llm_do::{data, tool};

#[data]
struct Range {
    from: u32,
    to: u32,
}

/// Ping.
#[tool]
fn ping(#[arg(default)] range: Range, #[arg(default)] number: u8) {}

fn main() {}
