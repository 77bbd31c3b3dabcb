//! The argument struct is a type of the function's name: the compiler's words, at the names that clash.

#![allow(unused)]

use llm_do::tool;

struct search;

/// Search.
#[tool]
fn search(text: String) {}

mod list {}

/// List.
#[tool]
fn list() {}

fn main() {}
