//! A path that is listed twice is one too many.

#![allow(unused)]

use llm_do::{entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

#[entry(toolsets = [read, "other", read, "other"])]
async fn start() {}

toolset! {
    /// Files.
    files = [read, self::read, read];
}


fn main() {}
