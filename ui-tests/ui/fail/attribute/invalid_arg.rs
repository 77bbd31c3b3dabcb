//! `#[arg]` takes keys in parentheses; with `flatten`, other keys belong on the fields of the struct.

#![allow(unused)]

use llm_do::{data, tool};

#[data]
struct Range {
    from: u32,
    to: u32,
}

/// Ping.
#[tool]
fn ping(
    #[arg] alone: u8,
    #[arg = 3] equal: u8,
    #[arg(default = )] nothing: u8,
    #[arg(default 3)] no_equals: u8,
    #[arg(flatten = true)] with_value: Range,
    #[arg("text")] a_text: u8,
    #[arg(rename = "")] nameless: u8,
    #[arg(flatten, description = "The range.", example = Range { from: 1, to: 2 })] described: Range,
) {
}

fn main() {}
