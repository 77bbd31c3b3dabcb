//! The compiler reports two functions with the same name.

#![allow(unused)]

use llm_do::tool;

/// Search.
#[tool]
fn search(text: String) {}

/// Search again.
#[tool]
fn search(text: String) {}

fn main() {}
