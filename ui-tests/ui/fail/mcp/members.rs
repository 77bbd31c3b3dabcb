//! `*` of a server is a member like any other.

use llm_do::prelude::*;

toolset! {
    files = mcp("good.mcp.json");
}

/// Look.
#[tool]
fn look() {}

#[entry(toolsets = [files::*.only([look])])]
async fn not_a_member(_ctx: &CallContext<not_a_member>) -> Result<()> {
    Ok(())
}

#[entry(toolsets = [files::*, files::*])]
async fn twice(_ctx: &CallContext<twice>) -> Result<()> {
    Ok(())
}

#[entry(toolsets = [files::*, files::read])]
async fn twice_by_name(_ctx: &CallContext<twice_by_name>) -> Result<()> {
    Ok(())
}

fn main() {}
