//! A type with `#[ctx]` implements `FromContext`.

#![allow(unused)]

use llm_do::tool;

struct Clock;

/// Ping.
#[tool]
fn ping(#[ctx] clock: Clock, #[ctx] other: &Clock) {}


fn main() {}
