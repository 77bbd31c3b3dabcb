//! Stage 1: a worker does all of it, with tools for files.

use llm_do::prelude::*;
use llm_do::toolsets::filesystem::filesystem_project;
// Links the model for offline runs.
use pitchdeck as _;

/// Evaluate pitch decks.
#[worker(
    toolsets = [filesystem_project],
    instructions = "You evaluate pitch decks for an investor. List the Markdown files in `decks`. Read each, and judge it from 1, \
                    no, to 5, yes. Write a report to `reports/`, under the name of the deck: the company as the heading, the \
                    score, the strengths and the risks as lists. At the end, state how many reports there are.",
    max_turns = 50,
)]
async fn evaluate_decks(input: String) -> String;

/// Evaluates all decks.
#[entry(toolsets = [evaluate_decks])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<String> {
    Ok(ctx.call(evaluate_decks { input: "Evaluate all decks.".into() }).await?)
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
