//! A tool can have no arguments and return nothing.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool, toolset, worker};

/// Nothing.
#[tool]
fn nothing() {}

/// Nothing, in the end.
#[tool(inline, toolsets = [], name = "nothing-at-all", args = NothingAtAll, description = "Nothing at all.")]
pub fn nothing_at_all() {}

/// Nothing, later.
#[tool()]
async fn nothing_later() {}

/// Judge nothing.
#[worker()]
async fn judge() -> ();

toolset! {}

toolset! {
    empty = [];
}

#[entry(toolsets = [empty, nothing, nothing_later, judge])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(nothing::default()).await?;
    ctx.call(nothing_later { ..Default::default() }).await?;
    ctx.call(judge {}).await
}

#[entry()]
fn start_nothing() {}

fn main() {
    let _ = NothingAtAll {};
}
