//! Uses of an invalid tool cause no further errors.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset, worker};

/// Ping.
#[tool(effect = readonly)]
pub fn ping(text: &str, #[arg(defualt = 3)] number: u8, other: &mut u8) -> Result<String, CallError> {
    Ok(text.to_owned())
}

toolset! {
    /// Pings.
    pings = [ping];
}

/// Judge.
#[worker(toolsets = [ping])]
async fn judge(input: String) -> u8;

/// Pong.
#[tool(toolsets = [pings, prefixed("x_", ping), judge])]
async fn pong(ctx: &CallContext<pong>) -> Result<String, CallError> {
    ctx.call(judge { input: String::new() }).await?;
    ctx.call(ping { text: String::new(), number: 3 }).await
}

#[entry]
async fn start(ctx: &CallContext) -> Result<String, CallError> {
    ping("text", 3, &mut 3)?;
    ctx.call(ping { text: String::new(), number: 3 }).await
}

fn main() {}
