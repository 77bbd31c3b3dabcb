//! The body of a worker can call only what the worker declares.

#![allow(unused)]

use llm_do::{CallContext, tool, worker};

/// Read.
#[tool]
fn read() -> String {
    String::new()
}

/// Write.
#[tool]
fn write() -> String {
    String::new()
}

/// Judge.
#[worker(toolsets = [read])]
async fn judge(ctx: &CallContext<judge>, input: String) -> u8 {
    ctx.call(read {}).await? + &ctx.call(write {}).await?
}

fn main() {}
