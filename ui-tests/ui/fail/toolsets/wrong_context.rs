//! The type of a context states which calls compile.

#![allow(unused)]

use llm_do::{CallContext, State, ToolContext, entry, tool};

/// Read.
#[tool]
fn read() {}

#[entry(toolsets = [read])]
async fn plain(ctx: &CallContext) {}

#[entry(toolsets = [read])]
async fn of_another(ctx: &CallContext<plain>) {}

#[entry]
async fn undeclared(ctx: &CallContext<undeclared>) {}

/// Two.
#[tool(args = Two)]
async fn of_another_undeclared(ctx: &llm_do::CallContext<plain>) {}

/// Two.
#[tool(toolsets = [read], args = Arguments)]
async fn two(ctx: &CallContext<Arguments>, state: State<u8>, again: &dyn ToolContext, third: &CallContext<Arguments>) {}


fn main() {}
