//! An error in one group does not affect other groups.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

toolset! {
    /// No name.
    = [read];

    /// No list.
    nothing = read;

    /// No end.
    endless = [read]

    /// Fine.
    fine = [read];
}

#[entry(toolsets = [fine])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(read {}).await
}


fn main() {}
