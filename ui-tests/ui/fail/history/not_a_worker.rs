//! A tool and an entry have no conversation to continue.

#![allow(unused)]

use llm_do::{CallError, History, Runtime, entry, tool, worker};

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

async fn sent(runtime: &Runtime) -> Result<(), CallError> {
    let mut chat = runtime.chat();
    chat.send(assistant { input: String::new() }).await?;
    chat.send(ping {}).await?;
    chat.send(begin {}).await
}

async fn with_a_history(runtime: &Runtime, history: History) -> Result<(), CallError> {
    runtime.start(assistant { input: String::new() }).history(history.clone()).await?;
    runtime.start(ping {}).history(history.clone()).await?;
    runtime.start(begin {}).history(history).await
}

fn main() {}
