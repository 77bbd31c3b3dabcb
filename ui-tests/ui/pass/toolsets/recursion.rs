//! An item can declare itself, and two items can declare each other.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool, worker};

/// Counts down.
#[tool(toolsets = [down])]
async fn down(ctx: &CallContext<down>, number: u8) -> Result<u8, CallError> {
    if number == 0 { Ok(0) } else { ctx.call(down { number: number - 1 }).await }
}

/// Is even.
#[tool(toolsets = [odd])]
async fn even(ctx: &CallContext<even>, number: u8) -> Result<bool, CallError> {
    if number == 0 { Ok(true) } else { ctx.call(odd { number: number - 1 }).await }
}

/// Is odd.
#[tool(toolsets = [even])]
async fn odd(ctx: &CallContext<odd>, number: u8) -> Result<bool, CallError> {
    if number == 0 { Ok(false) } else { ctx.call(even { number: number - 1 }).await }
}

/// Solves a part.
#[worker(toolsets = [solve, down])]
async fn solve(input: String) -> String;

#[entry(toolsets = [start, even, down, solve])]
async fn start(ctx: &CallContext<start>, again: bool) -> Result<bool, CallError> {
    if again { ctx.call(start { again: false }).await } else { ctx.call(even { number: 3 }).await }
}

fn main() {}
