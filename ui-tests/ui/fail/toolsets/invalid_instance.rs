//! A named instance takes one type, and nothing else.

#![allow(unused)]

use llm_do::prelude::*;

#[derive(Default)]
struct Database;

/// A database.
#[tool]
impl Database {
    /// Count the rows.
    #[tool(effect = read_only)]
    fn count(&self) -> u32 {
        0
    }
}

toolset! {
    a = instance();
}

toolset! {
    b = instance("orders", Database);
}

toolset! {
    c = instance(Database)
}

fn main() {}
