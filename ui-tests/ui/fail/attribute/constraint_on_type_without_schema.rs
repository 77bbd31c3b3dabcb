//! A constraint on a type without a schema causes one more error, from schemars.

#![allow(unused)]

use llm_do::tool;

struct Opaque;

/// Ping.
#[tool]
fn ping(#[schemars(title = "Three")] number: Opaque) {}

fn main() {}
