//! A worker that does not do a task, but creates a worker for it, and calls that.

mod demo;

use std::fs;

use llm_do::prelude::*;
use llm_do::toolsets::workers;

/// List the complaints, one on each line.
#[tool(effect = read_only)]
fn complaints() -> Result<String> {
    Ok(fs::read_to_string("complaints.txt")?)
}

/// Do a task for many texts.
#[worker(
    toolsets = [complaints, workers],
    instructions = "Do not do the task yourself. Read the texts, and create one worker with precise instructions for a single text. \
                    Call it for each text, and answer with one line for each.",
    max_turns = 50,
)]
async fn lead(task: String) -> String;

/// Sorts complaints.
#[entry(toolsets = [lead])]
async fn main_entry(
    ctx: &CallContext<main_entry>,
    #[arg(default = "Name the team that each complaint belongs to: delivery, accounting or service.")] task: String,
) -> Result<String> {
    Ok(ctx.call(lead { task }).await?)
}

fn main() -> ExitCode {
    // Without a store, a created worker exists until the program ends.
    llm_do::cli::Cli::new().configure(|builder| builder.worker_store("created")).main()
}
