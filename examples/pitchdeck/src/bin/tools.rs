//! Stage 2: what never varies is code. The worker decides only the order, and another worker judges.

use llm_do::prelude::*;
use pitchdeck::tools::{evaluate, list_decks, write_report};

/// Evaluate all pitch decks, and write a report about each.
#[worker(
    toolsets = [list_decks, evaluate, write_report],
    instructions = "List the decks. Evaluate each, and write its report. At the end, state how many reports there are.",
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
