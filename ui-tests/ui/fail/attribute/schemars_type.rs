//! A constraint on a type without JSON adds nothing to what is told of the type, but schemars' own words.

#![allow(unused)]

use llm_do::tool;

struct Opaque;

/// Ping.
#[tool]
fn ping(#[schemars(title = "Three")] number: Opaque) {}

fn main() {}
