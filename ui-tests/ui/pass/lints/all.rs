//! All lints of the compiler for source code, and all of clippy except `restriction` and `cargo`, are denied. clippy checks
//! this file as a program of this package.

#![deny(warnings, missing_docs, missing_debug_implementations, missing_copy_implementations)]
#![deny(unreachable_pub, unused_qualifications, unused_lifetimes, unused_results, let_underscore_drop)]
#![deny(
    trivial_casts,
    trivial_numeric_casts,
    single_use_lifetimes,
    elided_lifetimes_in_paths,
    absolute_paths_not_starting_with_crate
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(unsafe_code)]

use std::path::PathBuf;

use llm_do::{CallContext, CallError, State, ToolContext, data, entry, tool, toolset, worker};

/// A range.
#[data]
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// The first.
    pub from: u32,
    /// The last.
    pub to: Option<u32>,
}

/// Reads a file.
///
/// # Errors
///
/// Returns an error if the file is missing.
#[tool(effect = read_only)]
pub fn read(path: PathBuf, #[arg(default = 20)] limit: usize, state: State<u8>) -> std::io::Result<String> {
    drop(state);
    Ok(std::fs::read_to_string(path)?.chars().take(limit).collect())
}

/// Returns a `Result` that is never an error.
///
/// # Errors
///
/// Returns no error.
#[tool(args = Reverse)]
pub async fn reverse(text: String, #[arg(flatten)] range: Range, ctx: &dyn ToolContext) -> Result<String, CallError> {
    let _ = (range, ctx.depth());
    Ok(text.chars().rev().collect())
}

fn persona(ctx: &CallContext) -> String {
    ctx.name().to_owned()
}

/// Judges.
#[worker(instructions_with = persona, max_turns = 3, settings = llm_do::Settings::new(), hints = ["facts"], server_side_tools = [web_search(max_uses = 3)])]
pub async fn judge(input: String) -> Range;

/// Judges by a prompt of its own.
#[worker]
pub async fn judge_by_prompt(input: String, state: State<u8>) -> Range {
    format!("{input}{}", *state)
}

toolset! {
    /// All of them.
    pub all = [read, prefixed("x_", Reverse), judge, judge_by_prompt];
}

/// Starts.
///
/// # Errors
///
/// Returns what a call fails with.
#[entry(toolsets = [all.except([read])])]
pub async fn start(ctx: &CallContext<start>, text: String) -> Result<String, CallError> {
    let range = ctx.call(judge { input: text.clone() }).await?;
    ctx.call(Reverse { text, range }).await
}

fn main() {
    assert_eq!(std::env::args().count(), 1);
}
