//! A tool is as visible as its function: the compiler's words.

#![allow(unused)]

mod files {
    /// Read.
    #[llm_do::tool]
    fn read() {}
}

#[llm_do::entry(toolsets = [files::read])]
fn start() {}

fn main() {}
