//! There are three forms; an error shows how each is written.

#![allow(unused)]

use llm_do::{entry, tool, toolset};

/// Read.
#[tool]
fn read() {}

/// Write.
#[tool]
fn write() {}

toolset! {
    /// Files.
    files = [read, write];
}

#[entry(toolsets = [
    prefix("fs_", files),
    files.without([write]),
    files.ony([read]),
    files.wrong([read]),
    files.0,
    files::only([read]),
    only(files, [read]),
    files.prefixed("fs_"),
    wrong(files),
])]
async fn unknown() {}

#[entry(toolsets = [
    prefixed(),
    prefixed("fs_"),
    prefixed("fs_", "files"),
    prefixed("fs_", read, write),
    prefixed("fs_", prefixed("fs_", 3)),
])]
async fn half_a_prefix() {}

#[entry(toolsets = [files.only, files.only(read), files.except([]), files.only([read, 3, "write", read, Vec<u8>])])]
async fn half_a_pick() {}

#[entry(toolsets = [prefixed("fs_", files), read, prefixed("fs_", files), files.only([read]), files.only([ read ])])]
async fn twice() {}

toolset! {
    /// A name in a form.
    named = [prefixed("x_", "files"), "files".only([read])];
}


fn main() {}
