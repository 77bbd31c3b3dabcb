//! A tool and an entry have no conversation to continue.

#![allow(unused)]

use llm_do::{CallContext, CallError, History, Runtime, entry, tool, worker};

/// Ping.
#[tool]
fn ping() {}

/// Begins.
#[entry]
async fn begin() -> Result<(), CallError> {
    Ok(())
}

/// Answer.
#[worker]
async fn assistant(input: String) -> String;

async fn in_a_thread(ctx: &CallContext) -> Result<(), CallError> {
    ctx.thread("review").call(assistant { input: String::new() }).await?;
    ctx.thread("review").call(ping {}).await?;
    ctx.thread("review").call(begin {}).await
}

async fn with_a_history(runtime: &Runtime, history: History) -> Result<(), CallError> {
    runtime.start(assistant { input: String::new() }).history(history.clone()).await?;
    runtime.start(ping {}).history(history.clone()).await?;
    runtime.start(begin {}).history(history).await
}

fn main() {}
