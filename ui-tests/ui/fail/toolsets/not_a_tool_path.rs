//! A path refers to a tool or toolset, not to a module, another type, a constant, a function or a method.
//!
//! A function with one module before it gets our words too. In a longer path the compiler's words remain: the check would add a
//! second error to each unknown module.

#![allow(unused)]

use llm_do::{CallContext, entry, toolset};

mod files {
    /// Read.
    #[llm_do::tool]
    pub fn read() {}

    pub fn helper() {}

    pub mod inner {
        pub fn helper() {}
    }
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
    all = [files, String, files::raed, files::helper];

    /// Longer paths, and unknown modules.
    more = [crate::files::inner::helper, files::mising::helper, mising::helper];
}

fn main() {}
