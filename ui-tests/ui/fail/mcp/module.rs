//! The tools of a server are a module, which is not a type: `*` names all of them.

use llm_do::prelude::*;

toolset! {
    files = mcp("good.mcp.json");
}

#[entry(toolsets = [files])]
async fn without_star(_ctx: &CallContext<without_star>) -> Result<()> {
    Ok(())
}

#[entry(toolsets = [*])]
async fn only_star(_ctx: &CallContext<only_star>) -> Result<()> {
    Ok(())
}

fn main() {}
