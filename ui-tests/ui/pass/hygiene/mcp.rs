//! The module of a server works without the prelude, and beside names that shadow it.

#![no_implicit_prelude]
#![deny(warnings)]

use ::llm_do::{CallContext, CallError, entry, toolset};

toolset! {
    /// The tracker.
    pub tracker = mcp("../mcp/tracker.mcp.json");
}

mod shadowed {
    #![allow(non_camel_case_types)]

    pub struct String;
    pub struct Option;
    pub struct Vec;
    pub struct Result;
    pub struct Value;
    pub struct str;
    pub struct i64;
    pub mod std {}
    pub mod core {}
    pub mod llm_do {}

    ::llm_do::toolset! {
        /// The tracker.
        pub tracker = mcp("../mcp/tracker.mcp.json");
    }
}

#[entry(toolsets = [tracker::*, prefixed("x_", shadowed::tracker::*)])]
async fn start(ctx: &CallContext<start>) -> ::std::result::Result<::std::vec::Vec<::std::string::String>, CallError> {
    ctx.call(shadowed::tracker::list {}).await
}

fn main() {}
