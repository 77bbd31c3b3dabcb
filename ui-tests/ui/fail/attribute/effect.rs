//! An effect decides whether anybody is asked, so none is guessed.

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
