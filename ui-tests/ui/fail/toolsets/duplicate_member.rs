//! A member can be listed only once.

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
