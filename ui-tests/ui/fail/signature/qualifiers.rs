//! A function cannot be `const`, `unsafe` or `extern`.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool]
unsafe fn ping() {}

/// Pong.
#[tool]
extern "C" fn pong() {}

/// Peng.
#[tool]
const fn peng() {}


fn main() {}
