//! Stage 3: the order is code too. A model is asked for what needs judgement alone, once for each deck.

use llm_do::prelude::*;
use pitchdeck::tools::{evaluate, list_decks, write_report};

/// Evaluates all decks, and lists them, the best first.
#[entry(toolsets = [list_decks, evaluate, write_report])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<String> {
    let mut ranking = Vec::new();
    for deck in ctx.call(list_decks {}).await? {
        let evaluation = ctx.call(evaluate { deck: deck.clone() }).await?;
        ranking.push((evaluation.score, evaluation.company.clone()));
        ctx.call(write_report { deck, evaluation }).await?;
    }
    ranking.sort_by(|one, other| other.cmp(one));
    let lines = ranking.into_iter().map(|(score, company)| format!("{score} {company}"));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
