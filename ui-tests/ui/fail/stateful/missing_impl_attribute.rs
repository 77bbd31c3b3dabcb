//! A method is a tool only if its `impl` has `#[tool]` too.

#![allow(unused)]

use llm_do::{entry, tool};

struct Database;

impl Database {
    /// Query.
    #[tool]
    fn query(&self, table: String) {}

    /// Start.
    #[entry]
    fn start(&self) {}
}

fn main() {}
