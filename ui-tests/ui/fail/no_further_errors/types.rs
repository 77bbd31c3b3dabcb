//! An argument type without JSON is reported at the tool, and not at its callers.

#![allow(unused)]

use llm_do::{CallContext, CallError, Runtime, entry, tool, toolset};

struct Opaque;

/// Ping.
#[tool]
fn ping(item: Opaque) -> u8 {
    3
}

toolset! {
    /// Pings.
    pings = [ping];
}

#[entry(toolsets = [pings])]
async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
    ctx.call(ping { item: Opaque }).await
}

fn main() {}
