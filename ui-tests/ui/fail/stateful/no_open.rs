//! An instance is made by `open`, or else by `Default`.

use llm_do::tool;

struct Database;

/// A database.
#[tool]
impl Database {
    /// Query.
    #[tool]
    fn query(&self) {}
}

fn main() {}
