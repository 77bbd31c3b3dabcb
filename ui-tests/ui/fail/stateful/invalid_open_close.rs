//! `open` takes injected parameters only, and `close` takes only `self`.

#![allow(unused)]

use llm_do::{State, tool};

struct Database;

/// A database.
#[tool]
impl Database {
    async fn open(self, url: String, pool: State<u8>) {}

    /// Query.
    #[tool]
    fn query(&self) {}

    fn close(&self, force: bool) {}
}

fn main() {
    let _ = query {};
}
