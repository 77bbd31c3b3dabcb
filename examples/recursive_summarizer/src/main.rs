//! Summarizes a text of any length: a worker that is given too many lines calls itself on parts of them.

mod demo;

use std::fs;

use llm_do::prelude::*;

/// What one request reads.
const MAX_LINES: usize = 20;

/// Summarize some lines of a text file in at most three sentences.
#[worker(
    toolsets = [summarize],
    instructions = "Summarize what you are given in at most three sentences. If it is too long, call `summarize` for each part that \
                    is named, and then summarize the summaries.",
)]
async fn summarize(
    file: String,
    /// The first line, from 1 on.
    first: usize,
    /// The last line.
    last: usize,
) -> String {
    let text = fs::read_to_string(&file)?;
    let lines: Vec<_> = text.lines().skip(first.saturating_sub(1)).take((last + 1).saturating_sub(first)).collect();
    if lines.len() <= MAX_LINES {
        lines.join("\n")
    } else {
        let middle = first + lines.len() / 2;
        let last = first + lines.len() - 1;
        format!("`{file}` is too long. Its parts are lines {first} to {} and lines {middle} to {last}.", middle - 1)
    }
}

/// Summarizes a text file.
#[entry(toolsets = [summarize])]
async fn main_entry(ctx: &CallContext<main_entry>, #[arg(default = "lighthouse.txt")] file: String) -> Result<String> {
    let last = fs::read_to_string(&file)?.lines().count();
    Ok(ctx.call(summarize { file, first: 1, last }).await?)
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
