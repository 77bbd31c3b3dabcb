//! A function runs inline, on a blocking thread or as a future.

#![deny(warnings)]

use std::time::Duration;

use llm_do::{CallContext, CallError, entry, tool};

/// Blocks.
#[tool(timeout = "30s")]
fn blocking(seconds: u64) {
    let _ = seconds;
}

/// In place.
#[tool(inline)]
fn quick(number: u64) -> u64 {
    number + 1
}

const LATER: Duration = Duration::from_millis(10);

/// Later.
#[tool(timeout = LATER)]
async fn later(number: u64) -> u64 {
    std::future::ready(number).await
}

/// A sync tool has a context, for what needs no waiting.
#[tool]
fn depth(ctx: &CallContext) -> u32 {
    ctx.depth()
}

#[entry(timeout = Duration::from_secs(3600))]
fn sync_entry(ctx: &CallContext) -> u32 {
    ctx.depth()
}

#[entry(toolsets = [blocking, quick, later, depth])]
async fn start(ctx: CallContext<start>) -> Result<u64, CallError> {
    ctx.call(blocking { seconds: 0 }).await?;
    let number = ctx.call(quick { number: 1 }).await?;
    let depth = ctx.call(depth {}).await?;
    Ok(ctx.call(later { number }).await? + u64::from(depth))
}

fn main() {
    assert_eq!(quick(1), 2);
}
