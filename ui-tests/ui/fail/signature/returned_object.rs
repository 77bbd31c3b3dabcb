//! A trait object is reported if its trait does not serialize.

#![allow(unused)]

use std::fmt::Display;

use llm_do::tool;

/// Ping.
#[tool]
fn ping() -> Box<dyn Display> {
    Box::new(3)
}

fn main() {}
