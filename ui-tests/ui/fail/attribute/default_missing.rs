//! `default` alone takes the type's own, which must have one.

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
