//! A worker with a body takes one context, its own.

#![allow(unused)]

use llm_do::{CallContext, ToolContext, tool, worker};

/// Read.
#[tool]
fn read() {}

/// Judge.
#[worker(toolsets = [read])]
async fn judge(ctx: &CallContext, input: String) -> u8 {
    input
}

/// Judge twice.
#[worker]
async fn judge_twice(ctx: &CallContext, again: &dyn ToolContext, input: String) -> u8 {
    input
}

/// Judge without.
#[worker(toolsets = [read])]
async fn judge_without(ctx: &CallContext<judge_without>, #[ctx] other: CallContext<judge_without>) -> u8;

fn main() {}
