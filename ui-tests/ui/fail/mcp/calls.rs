//! A call of a server's tool is checked like any other: its declaration, its fields and its types.

use llm_do::prelude::*;

toolset! {
    files = mcp("good.mcp.json");
}

/// Declares another tool.
#[entry(toolsets = [files::*.except([files::read])])]
async fn undeclared(ctx: &CallContext<undeclared>) -> Result<()> {
    ctx.call(files::read { path: "a".into() }).await?;
    Ok(())
}

/// Has other fields and types.
#[entry(toolsets = [files::read])]
async fn fields(ctx: &CallContext<fields>) -> Result<()> {
    ctx.call(files::read { paths: "a".into() }).await?;
    ctx.call(files::read { path: 1 }).await?;
    ctx.call(files::delete {}).await?;
    Ok(())
}

fn main() {}
