//! Attribute macros of other crates can be above and below ours, and can read and change the function.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool, worker};
use ui_attribute::{identity, record};

/// Above.
#[identity]
#[tool]
fn above(#[arg(default = 3)] number: u8) -> u8 {
    number
}

/// Below.
#[tool]
#[identity]
fn below(#[arg(default = 3)] number: u8, text: &str) -> u8 {
    let _ = text;
    number
}

/// Twice.
#[identity]
#[tool]
#[identity]
async fn twice(ctx: &CallContext, number: u8) -> Result<u8, CallError> {
    ctx.call(above { number }).await
}

/// Recorded.
#[tool]
#[record]
fn recorded(number: u8) -> u8 {
    number
}

/// Recorded first.
#[record]
#[tool]
fn recorded_first(number: u8) -> u8 {
    number
}

/// Judge.
#[worker]
#[identity]
async fn judge(input: String) -> u8;

#[identity]
#[entry(toolsets = [above, below, twice, recorded, recorded_first, judge])]
#[identity]
async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
    ctx.call(recorded { number: 3 }).await
}

fn main() {
    assert_eq!(recorded(3) + recorded_first(4) + above(1) + below(1, ""), 9);
}
