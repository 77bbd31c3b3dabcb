//! An excluded tool cannot be called.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Write.
#[tool]
fn write() {}

/// List.
#[tool]
fn list() {}

toolset! {
    /// Files.
    files = [read, list, write];

    /// What reads.
    readers = [files.except([write])];
}

#[entry(toolsets = [files.except([write])])]
async fn by_except(ctx: &CallContext<by_except>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}

#[entry(toolsets = [prefixed("fs_", files.only([read]))])]
async fn by_only(ctx: &CallContext<by_only>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}

#[entry(toolsets = [readers])]
async fn by_a_group(ctx: &CallContext<by_a_group>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}


fn main() {}
