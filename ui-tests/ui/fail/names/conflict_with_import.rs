//! The compiler reports an imported type with the name of the argument struct.

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
