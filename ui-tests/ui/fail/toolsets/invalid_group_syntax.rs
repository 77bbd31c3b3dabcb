//! Other items in `toolset!` are reported with the syntax of a group.

#![allow(unused)]

use llm_do::{tool, toolset};

/// Read.
#[tool]
fn read() {}

toolset! {
    pub fn files = [read];
}

toolset! {
    files
}

toolset! {
    files: [read];
}

toolset! {
    "files" = [read];
}

toolset! {
    struct = [read];
}

fn main() {}
