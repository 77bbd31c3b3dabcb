//! The hints of a server make the effects of its tools stronger, never weaker.

use llm_do::prelude::*;

toolset! {
    files = mcp("effects.mcp.json");
}

/// Report.
#[tool(effect = read_only, toolsets = [files::list])]
async fn hinted_as_read_only(_ctx: &CallContext<hinted_as_read_only>) {}

/// Report.
#[tool(effect = idempotent, toolsets = [files::*])]
async fn hinted_as_destructive(_ctx: &CallContext<hinted_as_destructive>) {}

fn main() {}
