//! The name of a parameter is that of the argument.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping((a, b): (u8, u8), _: String, ref c: String, d @ 0..: u8) -> usize {
    usize::from(a + b + d) + c.len()
}


fn main() {}
