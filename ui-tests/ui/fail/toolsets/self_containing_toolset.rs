//! A toolset cannot contain itself; the compiler reports a cycle of two.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

toolset! {
    /// Itself.
    all = [read, all];
}

#[entry(toolsets = [all])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(read {}).await
}

fn main() {}
