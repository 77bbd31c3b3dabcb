//! A tool has no doc comment.

use llm_do::prelude::*;

#[tool(effect = read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
