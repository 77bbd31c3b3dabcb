//! `ctx.call` takes an argument struct, and nothing else.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool};

/// Ping.
#[tool]
fn ping() {}

struct Plain;

fn plain() {}

/// Pong.
#[tool]
async fn by_a_function(ctx: &CallContext) -> Result<(), CallError> {
    ctx.call(ping).await?;
    ctx.call(plain()).await
}

#[entry(toolsets = [ping])]
async fn by_a_name(ctx: &CallContext<by_a_name>) -> Result<(), CallError> {
    ctx.call("ping").await?;
    ctx.call(Plain).await
}

fn main() {}
