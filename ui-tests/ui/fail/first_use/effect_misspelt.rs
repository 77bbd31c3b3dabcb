//! The effect is misspelt.

use llm_do::prelude::*;

/// Add two numbers.
#[tool(effect = readonly)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
