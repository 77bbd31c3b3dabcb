//! A path refers to a tool or toolset, not to a module, another type, a constant or a method.

#![allow(unused)]

use llm_do::{CallContext, entry, toolset};

mod files {
    /// Read.
    #[llm_do::tool]
    pub fn read() {}
}

const READ: u8 = 3;

trait Speak {}

macro_rules! write {
    () => {};
}

#[entry(toolsets = [files, u8, READ, Vec::new, Speak, write])]
async fn start() {}

toolset! {
    /// Files.
    all = [files, String, files::raed];
}

fn main() {}
