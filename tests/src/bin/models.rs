//! An application with workers without a model, for `tests/cli.rs`.

use std::process::ExitCode;

use llm_do::prelude::*;

/// Write a poem.
#[worker]
async fn poet(input: String) -> String;

/// Answer.
#[worker]
async fn lonely(input: String) -> String;

/// Type.
#[worker(model = "openai:gpt-5-minni")]
async fn typist(input: String) -> String;

/// Ask for a poem.
#[entry(toolsets = [poet])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<String> {
    Ok(ctx.call(poet { input: "sea".into() }).await?)
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
