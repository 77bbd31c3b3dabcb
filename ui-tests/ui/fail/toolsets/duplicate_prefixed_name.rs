//! A prefix can make two names equal.

#![allow(unused)]

use llm_do::{entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Read a file.
#[tool]
fn fs_read() {}

toolset! {
    /// Files.
    files = [read];
}

#[entry(toolsets = [fs_read, prefixed("fs_", files)])]
async fn of_a_tool() {}

#[entry(toolsets = [prefixed("fs_", files), prefixed("fs_", read)])]
async fn of_the_same() {}

#[entry(toolsets = [files, files.only([read])])]
async fn without_a_prefix() {}


fn main() {}
