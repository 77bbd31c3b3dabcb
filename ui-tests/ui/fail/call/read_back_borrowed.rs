//! A result that borrows for ever cannot be read back: the compiler's words.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool};

/// Pong.
#[tool]
fn pong() -> Result<&'static str, CallError> {
    Ok("pong")
}

#[entry(toolsets = [pong])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(pong {}).await?;
    Ok(())
}

fn main() {}
