//! `#[serde]` is not supported on a parameter, and `#[schemars]` not with keys of `#[arg]`.

#![allow(unused)]

use llm_do::{CallContext, CallError, data, entry, tool, worker};

#[data]
struct Range {
    from: u32,
    to: u32,
}

/// Find.
#[tool]
fn find(
    #[serde(rename = "text")] query: String,
    #[schemars(title = "Words", rename = "text")] words: Vec<String>,
    #[serde(default, flatten)] range: Range,
    #[schemars(alias = "max", skip)] limit: Option<u32>,
    #[serde(with = "seconds")] pause: u64,
    #[arg(flatten, default = Range { from: 1, to: 2 }, rename = "lines")]
    #[schemars(range(min = 0))]
    lines: Range,
) {
}

/// Judge.
#[worker]
async fn judge(#[serde(rename(deserialize = "text"))] input: String) -> u8;

#[entry]
async fn start(ctx: &CallContext) -> Result<u8, CallError> {
    ctx.call(judge { input: String::new() }).await
}

fn main() {}
