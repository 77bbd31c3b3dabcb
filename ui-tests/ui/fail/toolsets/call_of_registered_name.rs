//! A tool that is declared by its registered name cannot be called by type.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool};

/// Read.
#[tool]
fn read() {}

#[entry(toolsets = ["read"])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call_tool("read", llm_do::json!({})).await?;
    ctx.call(read {}).await
}

fn main() {}
