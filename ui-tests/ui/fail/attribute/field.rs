//! What serde would name otherwise, or otherwise place, a model could not call; the rest of serde is the user's.

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
    #[serde(alias = "max", alias = "most")] limit: Option<u32>,
    #[serde(default)]
    #[schemars(range(min = 0))]
    skipped: u32,
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
