//! `reconcile` is for tools whose calls must not run twice.

#![allow(unused)]

use llm_do::tool;

/// Look.
#[tool(effect = read_only)]
fn look() -> Option<u8> {
    None
}

/// Set.
#[tool(effect = idempotent, reconcile = look)]
fn set() -> u8 {
    1
}

fn main() {}
