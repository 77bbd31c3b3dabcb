//! `on_unknown` takes one of three values.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool(on_unknown = asks)]
fn ping() {}

/// Pong.
#[tool(on_unknown = never)]
fn pong() {}

/// Peng.
#[tool(on_unknown = "ask")]
fn peng() {}


fn main() {}
