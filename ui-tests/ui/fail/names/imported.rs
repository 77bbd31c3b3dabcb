//! An import of a type of the function's name clashes with the argument struct: the compiler's words.

#![allow(unused)]

mod other {
    pub struct search;
}

use llm_do::tool;
use other::search;

/// Search.
#[tool]
fn search(text: String) {}

fn main() {}
