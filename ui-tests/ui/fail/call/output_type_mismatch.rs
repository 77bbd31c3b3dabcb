//! A call returns the value of the function, without its `Result`.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool, worker};

/// Ping.
#[tool]
fn ping() -> std::io::Result<u8> {
    Ok(3)
}

/// Judge.
#[worker]
async fn judge(input: String) -> Vec<u8>;

#[entry(toolsets = [ping, judge])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    let number: String = ctx.call(ping {}).await?;
    let result: std::io::Result<u8> = ctx.call(ping {}).await;
    let text: String = ctx.call(judge { input: String::new() }).await?;
    Ok(())
}

fn main() {}
