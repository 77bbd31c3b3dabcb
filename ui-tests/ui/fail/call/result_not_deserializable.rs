//! The result of a typed call is deserialized from JSON.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool};

#[derive(serde::Serialize)]
struct Written(u8);

/// Ping.
#[tool]
fn ping() -> Written {
    Written(3)
}

/// Pong.
#[tool]
fn pong() -> Result<&'static str, CallError> {
    Ok("pong")
}

/// Fine: by name, it is JSON.
#[tool]
async fn peng(ctx: &CallContext) -> Result<llm_do::Value, CallError> {
    ctx.call_tool("ping", llm_do::json!({})).await
}

#[entry(toolsets = [ping, pong])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(ping {}).await?;
    ctx.call(pong {}).await?;
    Ok(())
}

fn main() {}
