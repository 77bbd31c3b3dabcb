//! A typed call is a struct, so the compiler reports missing and unknown fields and wrong types.

#![allow(unused)]

use llm_do::{CallContext, CallError, tool};

/// Ping.
#[tool]
fn ping(text: String, #[arg(default = 3)] number: u8) {}

/// Pong.
#[tool]
async fn pong(ctx: &CallContext) -> Result<(), CallError> {
    ctx.call(ping { text: String::new() }).await?;
    ctx.call(ping { text: String::new(), numbr: 3 }).await?;
    ctx.call(ping { text: "text", number: 300 }).await?;
    ctx.call(ping { text: String::new(), ..Default::default() }).await
}

fn main() {}
