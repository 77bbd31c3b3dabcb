//! An argument type needs all three traits, and the error lists them.

#![allow(unused)]

use llm_do::tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct NotWritten;

#[derive(Serialize, JsonSchema)]
struct NotRead;

#[derive(Serialize, Deserialize)]
struct NotDescribed;

/// Ping.
#[tool]
fn ping(one: NotWritten, two: NotRead, three: NotDescribed) {}

fn main() {}
