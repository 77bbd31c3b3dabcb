//! `tracing::instrument` works above and below our attributes, on sync and async functions.

#![deny(warnings)]

use llm_do::{CallContext, CallError, State, entry, tool};
use tracing::instrument;

/// Below.
#[tool]
#[instrument(skip(text, state))]
fn below(text: &str, number: u8, state: State<u8>) -> Result<u8, String> {
    let _ = (text, state);
    Ok(number)
}

/// Above.
#[instrument]
#[tool]
fn above(number: u8) -> u8 {
    number
}

/// Below, later.
#[tool]
#[instrument(level = "debug", skip_all, fields(number = number))]
async fn below_later(ctx: &CallContext, number: u8) -> Result<u8, CallError> {
    ctx.call(above { number }).await
}

#[instrument(skip(ctx), err(Debug))]
#[entry(toolsets = [below, above, below_later])]
async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
    ctx.call(below_later { number: 3 }).await
}

fn main() {
    assert_eq!(above(3), 3);
}
