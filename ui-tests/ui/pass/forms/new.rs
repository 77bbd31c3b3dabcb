//! `NAME::new` takes the required arguments of a tool, worker or entry.

#![deny(warnings, missing_docs, unreachable_pub)]
#![deny(clippy::all, clippy::pedantic)]

use std::path::PathBuf;

use llm_do::prelude::*;

/// Read.
#[tool(effect = read_only)]
fn read(path: &str, #[arg(default = 20)] limit: usize, marks: &[u8], until: Option<u8>) -> String {
    format!("{path}{limit}{marks:?}{until:?}")
}

/// Take a name that generated code uses too.
#[tool(args = Given)]
fn given(r#type: String, mut new: u8, ctx: &CallContext) -> u8 {
    let _ = (r#type, ctx);
    new += 1;
    new
}

/// Judge.
#[worker]
async fn judge(text: String, #[arg(default)] strict: bool) -> u8;

/// Judge a prompt.
#[worker]
async fn judge_by_prompt(text: String, level: State<u8>, #[arg(default)] strict: bool) -> u8 {
    format!("{text}{}{strict}", *level)
}

#[entry(toolsets = [read, judge])]
async fn start(ctx: &CallContext<start>, folder: PathBuf, #[arg(default = 3)] times: u8) -> Result<u8> {
    let text = ctx.call(read { until: Some(times), ..read::new(folder.display().to_string(), vec![1]) }).await?;
    Ok(ctx.call(judge::new(text)).await?)
}

/// Nothing is required.
#[tool]
fn nothing(#[arg(default = 1)] one: u8) -> u8 {
    one
}

fn main() {
    let read { path, limit, marks, until } = read::new("a".to_owned(), vec![2]);
    assert_eq!((path.as_str(), limit, marks, until), ("a", 20, vec![2], None));
    let Given { r#type, new } = Given::new("b".to_owned(), 3);
    assert_eq!((r#type.as_str(), new), ("b", 3));
    assert!(!judge::new(String::new()).strict);
    assert!(!judge_by_prompt::new(String::new()).strict);
    assert_eq!(start::new(PathBuf::new()).times, 3);
    assert_eq!(nothing::new().one, 1);
}
