//! A name of run time declares nothing to the compiler: such a tool is called by name.

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
