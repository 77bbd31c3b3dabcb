//! A tool outside the declaration cannot be called.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Write.
#[tool]
fn write() {}

/// Delete.
#[tool(name = "remove")]
fn delete(path: String) {}

toolset! {
    /// Files.
    files = [read, write];
}

#[entry(toolsets = [files])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(delete { path: String::new() }).await
}


fn main() {}
