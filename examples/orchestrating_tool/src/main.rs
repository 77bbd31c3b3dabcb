//! A tool that calls workers: for the model that calls it, it is one call; inside, code decides how often which worker is asked.

mod demo;

use llm_do::prelude::*;

/// How often a text is written.
const MAX_ROUNDS: usize = 3;

/// Write a product description of at most 40 words.
#[worker]
async fn write_draft(
    product: String,
    /// The draft before, and what is wrong with it.
    corrections: Option<String>,
) -> String;

/// What a critic found.
#[data]
struct Critique {
    is_good: bool,
    /// What to change, if it is not good.
    corrections: String,
}

/// Check a product description: it must name the product, a use and a limit.
#[worker]
async fn check_draft(product: String, draft: String) -> Critique;

/// Write a description of a product that a critic has approved.
#[tool(effect = read_only, toolsets = [write_draft, check_draft])]
async fn describe(ctx: &CallContext<describe>, product: String) -> Result<String> {
    let mut corrections = None;
    for round in 1..=MAX_ROUNDS {
        ctx.progress(format!("{product}: round {round} of at most {MAX_ROUNDS}"));
        let draft = ctx.call(write_draft { product: product.clone(), corrections }).await?;
        // A rule that code can check needs no model.
        let words = draft.split_whitespace().count();
        if words > 40 {
            corrections = Some(format!("{draft}\nThis has {words} words; at most 40 are allowed."));
            continue;
        }
        let critique = ctx.call(check_draft { product: product.clone(), draft: draft.clone() }).await?;
        if critique.is_good {
            return Ok(draft);
        }
        corrections = Some(format!("{draft}\n{}", critique.corrections));
    }
    Err(format!("no description of `{product}` was approved in {MAX_ROUNDS} rounds").into())
}

/// Answer a shop's request for product descriptions.
#[worker(toolsets = [describe], instructions = "Describe each product with `describe`. Answer with the descriptions alone.")]
async fn shop_assistant(input: String) -> String;

/// Answers a request.
#[entry(toolsets = [shop_assistant])]
async fn main_entry(ctx: &CallContext<main_entry>, #[arg(default = "lamp, kite")] input: String) -> Result<String> {
    Ok(ctx.call(shop_assistant { input }).await?)
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
