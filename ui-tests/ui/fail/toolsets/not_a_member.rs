//! `only` and `except` list members.

#![allow(unused)]

use llm_do::{entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Write.
#[tool]
fn write() {}

/// Search.
#[tool]
fn search() {}

toolset! {
    /// Files.
    files = [read, write];

    /// Files and more.
    more = [files, search];

    /// Not of a member.
    of_no_member = [files.only([read, search])];

    /// Gone already.
    of_what_is_gone = [files.except([write]).only([write])];
}

#[entry(toolsets = [prefixed("fs_", files).except([search]), files.except([more]), more.only([files])])]
async fn start() {}

#[entry(toolsets = [files.except([serch])])]
async fn misspelt() {}


fn main() {}
