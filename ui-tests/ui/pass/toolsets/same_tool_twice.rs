//! A declaration can include a tool several times under different names.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Write.
#[tool]
fn write() {}

toolset! {
    /// Reads.
    pub reading = [read];

    /// Writes.
    pub(crate) writing = [write];

    /// Both.
    both = [reading, prefixed("w_", writing)];
}

mod more {
    llm_do::toolset! {
        /// From another module.
        pub(super) again = [prefixed("again_", super::both), crate::write];
    }
}

#[entry(toolsets = [both, prefixed("other_", read), more::again])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}

/// Another caller.
#[tool(toolsets = [reading, "write", "anything-else"])]
async fn other(ctx: &CallContext<other>) -> Result<(), CallError> {
    ctx.call_tool("write", llm_do::json!({})).await?;
    ctx.call(read {}).await
}

fn main() {}
