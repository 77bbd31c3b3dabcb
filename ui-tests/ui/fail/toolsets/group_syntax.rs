//! Whatever is not a group is told what one is.

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
