//! A worker is not async.

use llm_do::prelude::*;

/// Greet somebody.
#[worker]
fn greet(input: String) -> String;

fn main() {}
