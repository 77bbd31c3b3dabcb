//! An async function is not run off the async threads in the first place.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool(inline)]
async fn ping() {}


fn main() {}
