//! A declaration cannot contain two tools with the same name.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

mod files {
    /// Read a file.
    #[llm_do::tool]
    pub fn read() {}
}

/// Read the room.
#[tool]
fn read() {}

/// Read a map.
#[tool(name = "read")]
fn map() {}

toolset! {
    /// Files.
    files_and_map = [files::read];

    /// All of them.
    all = [files_and_map, map];
}

#[entry(toolsets = [read, files::read])]
async fn two_tools(ctx: &CallContext<two_tools>) -> Result<(), CallError> {
    ctx.call(read {}).await
}

#[entry(toolsets = [read, files_and_map])]
async fn across_a_group(ctx: &CallContext<across_a_group>) -> Result<(), CallError> {
    ctx.call(read {}).await
}


fn main() {}
