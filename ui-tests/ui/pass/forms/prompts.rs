//! A prompt is an argument: its fields if it is the only one, else one value.

#![deny(warnings)]

use llm_do::{CallContext, CallError, Prompt, entry, tool, worker};

/// Judge.
#[worker]
async fn judge(prompt: Prompt) -> String;

/// Judge strictly.
#[worker]
async fn judge_strictly(prompt: Prompt, level: u8) -> String;

/// Count.
#[tool]
fn count(prompt: Prompt) -> usize {
    prompt.text().len()
}

#[entry(toolsets = [judge, judge_strictly, count])]
async fn start(ctx: &CallContext<start>, prompt: Prompt) -> Result<usize, CallError> {
    let text = ctx.call(judge { prompt: prompt.clone() }).await?;
    let text = ctx.call(judge_strictly { prompt: text.into(), level: 3 }).await?;
    Ok(ctx.call(count { prompt: Prompt::new("a") }).await? + text.len())
}

fn main() {}
