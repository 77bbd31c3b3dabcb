//! A method needs an `impl` with `#[tool]`, and a worker cannot be a method.

#![allow(unused)]

use llm_do::{tool, worker};

struct Database;

impl Database {
    /// Count.
    #[tool]
    fn count(&self, table: String) -> usize {
        table.len()
    }
}

/// Judge.
#[worker]
async fn judge(self: Database) -> u8;


fn main() {}
