//! A member is a path, a form or a registered name.

#![allow(unused)]

use llm_do::{CallContext, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

#[entry(toolsets = [read, 3, write(), (move_all), Vec<u8>, fn])]
async fn start(ctx: &CallContext<start>) {}

toolset! {
    /// Files.
    files = [read, "write", 3];
}


fn main() {}
