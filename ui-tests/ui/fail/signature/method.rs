//! A call comes with arguments, and with no object to call a method of.

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
