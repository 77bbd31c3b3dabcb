//! A worker is not async.

use llm_do::prelude::*;

/// Greet a person.
#[worker]
fn greet(input: String) -> String;

fn main() {}
