//! A type without a name has no schema.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
fn ping(names: impl Iterator<Item = String>, boxed: Box<impl Clone>) -> impl Clone {
    let _ = (names, boxed);
}


fn main() {}
