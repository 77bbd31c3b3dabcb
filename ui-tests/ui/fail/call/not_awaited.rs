//! A call that is not awaited is reported.

#![deny(unused_must_use)]
#![allow(dead_code)]

use llm_do::{CallContext, CallError, entry, tool, worker};

/// Ping.
#[tool]
fn ping() {}

/// Judge.
#[worker]
async fn judge(input: String) -> u8;

#[entry(toolsets = [ping, judge])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(ping {});
    ctx.call(judge { input: String::new() });
    ctx.call_tool("ping", llm_do::json!({}));
    Ok(())
}

fn main() {}
