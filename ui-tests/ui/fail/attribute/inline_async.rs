//! `inline` applies only to a sync function.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool(inline)]
async fn ping() {}


fn main() {}
