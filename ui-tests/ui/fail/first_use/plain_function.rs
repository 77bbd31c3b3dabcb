//! A plain function is listed as a tool.

use llm_do::prelude::*;

fn helper(text: String) -> String {
    text
}

/// Says something.
#[entry(toolsets = [helper])]
async fn report(ctx: &CallContext<report>) -> Result<()> {
    let _ = ctx;
    Ok(())
}

toolset! {
    /// Helpers.
    helpers = [helper];
}

fn main() {}
