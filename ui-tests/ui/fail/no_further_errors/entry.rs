//! An invalid entry keeps its declaration, so that its calls cause no errors.

#![allow(unused)]

use llm_do::{CallContext, CallError, Runtime, entry, tool};

/// Ping.
#[tool]
fn ping() {}

/// Pong.
#[tool]
fn pong() {}

#[entry(toolset = [ping, pong], model = "test")]
async fn start(ctx: &CallContext<start>, text: String) -> Result<(), CallError> {
    ctx.call(ping {}).await?;
    ctx.call(pong {}).await
}

async fn run() {
    let runtime = Runtime::builder().build().unwrap();
    runtime.run(start { text: String::new() }).await;
}

fn main() {}
