//! Two functions of one name are the compiler's to tell.

#![allow(unused)]

use llm_do::tool;

/// Search.
#[tool]
fn search(text: String) {}

/// Search again.
#[tool]
fn search(text: String) {}

fn main() {}
