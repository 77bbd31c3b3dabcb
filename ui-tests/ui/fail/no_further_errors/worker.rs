//! Uses of an invalid worker cause no further errors.

#![allow(unused)]

use llm_do::{CallContext, CallError, data, entry, tool, toolset, worker};

#[data]
struct Review {
    score: u8,
}

#[worker(modle = "test:a", max_turns = 0)]
fn judge(input: String, #[arg(default = 3)] limit: u8) -> Review;

/// With a body.
#[worker(output = natve)]
async fn render(ctx: &CallContext<render>, input: String) -> Review {
    input
}

toolset! {
    /// Judges.
    judges = [judge, render];
}

#[entry(toolsets = [judges])]
async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
    let review = ctx.call(render { input: String::new() }).await?;
    Ok(review.score + ctx.call(judge { input: String::new(), limit: 3 }).await?.score)
}

fn main() {}
