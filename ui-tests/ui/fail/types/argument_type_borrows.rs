//! A type of the user that borrows cannot be deserialized.

#![allow(unused)]

use llm_do::tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Text<'a> {
    text: &'a str,
}

/// Ping.
#[tool]
fn ping(elided: Text, named: Text<'_>, forever: Text<'static>) {}

fn main() {}
