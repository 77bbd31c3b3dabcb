//! `#[ctx]` takes no arguments.

#![allow(unused)]

use llm_do::{CallContext, State, tool};

/// Ping.
#[tool]
fn ping(
    #[ctx = 3] one: State<u8>,
    #[ctx(two)] two: State<u16>,
    #[ctx]
    #[schemars(title = "Three")]
    three: State<u32>,
    #[arg(flatten)] four: State<u64>,
) {
}

fn main() {}
