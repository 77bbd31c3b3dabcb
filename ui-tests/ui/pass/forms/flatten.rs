//! The fields of a flattened struct replace the struct, in the schema only.

#![deny(warnings)]

use llm_do::{CallContext, CallError, data, entry, tool, worker};

/// A range.
#[data]
struct Range {
    /// The first line.
    from: u32,
    #[serde(default)]
    to: Option<u32>,
}

/// A page.
#[data]
struct Page {
    number: u32,
}

/// Find.
#[tool]
fn find(text: &str, #[arg(flatten)] range: Range, #[arg(flatten)] page: Page) -> u32 {
    let _ = (text, range.to);
    range.from + page.number
}

/// Judge.
#[worker]
async fn judge(#[arg(flatten)] range: Range) -> u32;

#[entry(toolsets = [find, judge])]
async fn start(ctx: &CallContext<start>, #[arg(flatten)] page: Page) -> Result<u32, CallError> {
    let range = ctx.call(judge { range: Range { from: 1, to: None } }).await?;
    let range = Range { from: range, to: None };
    ctx.call(find { text: String::new(), range, page }).await
}

fn main() {}
