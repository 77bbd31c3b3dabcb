//! A plain function or type is not a tool or toolset.

#![allow(unused)]

use llm_do::{CallContext, entry, toolset};

fn plain() {}

struct Plain;

#[entry(toolsets = [plain, Plain, missing, std::missing])]
async fn start(ctx: &CallContext<start>) {}

toolset! {
    /// Files.
    files = [plain, Plain, missing];
}


fn main() {}
