//! All faults of a snapshot are reported in one compilation, at the name of the file; valid tools can be used.

use llm_do::prelude::*;

toolset! {
    missing = mcp("missing.mcp.json");
    no_json = mcp("no_json.mcp.json");
    version = mcp("version.mcp.json");
    faulty = mcp("faulty.mcp.json");
}

#[entry(toolsets = [missing::*, no_json::*, version::*, faulty::*])]
async fn start(ctx: &CallContext<start>) -> Result<()> {
    ctx.call(faulty::list {}).await?;
    Ok(())
}

fn main() {}
