//! An object behind a pointer is judged by its trait: one that has no JSON is told by the compiler, in our words.

#![allow(unused)]

use std::fmt::Display;

use llm_do::tool;

/// Ping.
#[tool]
fn ping() -> Box<dyn Display> {
    Box::new(3)
}

fn main() {}
