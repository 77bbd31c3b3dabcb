//! The argument struct has the visibility of the function; the compiler reports private ones.

#![allow(unused)]

mod files {
    /// Read.
    #[llm_do::tool]
    fn read() {}
}

#[llm_do::entry(toolsets = [files::read])]
fn start() {}

fn main() {}
