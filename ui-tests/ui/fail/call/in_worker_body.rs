//! The body of a worker is held to its declaration too.

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
