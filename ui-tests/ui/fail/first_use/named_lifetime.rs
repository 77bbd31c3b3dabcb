//! A parameter borrows for a named lifetime.

use llm_do::prelude::*;

/// Count the words of a text.
#[tool(effect = read_only)]
fn count_words<'a>(text: &'a str) -> usize {
    text.split_whitespace().count()
}

/// Count the words of a fixed text.
#[tool(effect = read_only)]
fn count_fixed(text: &'static str) -> usize {
    text.split_whitespace().count()
}

fn main() {}
