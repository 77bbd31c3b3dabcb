//! An example is an expression of the argument's type.

#![deny(warnings)]

use llm_do::{data, tool};

#[data]
struct Range {
    from: u32,
}

/// Ping.
#[tool]
fn ping(
    #[arg(example = "text")] a: &str,
    #[arg(example = 3, default = 4)] b: u8,
    #[arg(example = Range { from: 1 })] c: Range,
    #[arg(example = Some(vec![1]))] d: Option<Vec<u8>>,
    #[arg(example = "a/b", description = "A path.", rename = "path")] e: &std::path::Path,
) {
    drop((a, b, c.from, d, e));
}

fn main() {}
