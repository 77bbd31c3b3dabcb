//! The compiler reports a type with the name of the argument struct.

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
