//! `effect` takes one of three values.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool(effect = readonly)]
fn ping() {}

/// Pong.
#[tool(effect = harmless)]
fn pong() {}

/// Peng.
#[tool(effect = "read_only")]
fn peng() {}


fn main() {}
