//! The same with at most one member, where the compiler must not infer the tool from the list.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Write.
#[tool]
fn write() {}

toolset! {
    /// One member.
    files = [read];

    /// One member, which is a group.
    nested = [files];

    /// No member.
    empty = [];
}

#[entry(toolsets = [read])]
async fn of_one(ctx: &CallContext<of_one>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}

#[entry(toolsets = [])]
async fn of_none(ctx: &CallContext<of_none>) -> Result<(), CallError> {
    ctx.call(write {}).await
}

#[entry(toolsets = ["read"])]
async fn of_a_name(ctx: &CallContext<of_a_name>) -> Result<(), CallError> {
    ctx.call(write {}).await
}

#[entry(toolsets = [files])]
async fn of_a_group(ctx: &CallContext<of_a_group>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}

#[entry(toolsets = [nested])]
async fn of_a_nested_group(ctx: &CallContext<of_a_nested_group>) -> Result<(), CallError> {
    ctx.call(read {}).await?;
    ctx.call(write {}).await
}

#[entry(toolsets = [empty])]
async fn of_an_empty_group(ctx: &CallContext<of_an_empty_group>) -> Result<(), CallError> {
    ctx.call(write {}).await
}


fn main() {}
