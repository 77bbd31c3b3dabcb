//! The compiler reports a result that borrows for `'static`, since it cannot be deserialized.

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
