//! An instance is created by `open` or `Default`.

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
