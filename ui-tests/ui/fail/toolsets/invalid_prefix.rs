//! A prefix is a string literal, and the prefixed names must be valid.

#![allow(unused)]

use llm_do::{entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// The result of everything.
#[tool]
fn result() {}

const PREFIX: &str = "fs_";

#[entry(toolsets = [prefixed(PREFIX, read), prefixed(read, "fs_"), prefixed(3, read), prefixed("", read)])]
async fn no_text() {}

#[entry(toolsets = [prefixed("fs.", read), prefixed("ü", read), prefixed("f s", read)])]
async fn characters() {}

toolset! {
    /// 30 bytes before each name.
    long = [prefixed("thirty_bytes_before_each_name_", read)];

    /// 60 bytes, and more with the name.
    too_long = [prefixed("thirty_bytes_before_each_name_", prefixed("_", long))];
}

#[entry(toolsets = [prefixed("final_", result)])]
async fn reserved() {}


fn main() {}
