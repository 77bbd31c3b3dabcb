//! One `use` imports the function and its argument struct, also with a glob or under another name.

#![deny(warnings)]

mod files {
    /// Read.
    #[llm_do::tool]
    pub fn read(path: &str) -> usize {
        path.len()
    }

    /// Write.
    #[llm_do::tool]
    pub fn write() {}

    pub mod deep {
        /// List.
        #[llm_do::tool]
        pub fn list() {}
    }

    llm_do::toolset! {
        /// All of them.
        pub all = [read, write, deep::list];
    }
}

mod facade {
    pub use crate::files::deep::list as ls;
    pub use crate::files::*;
}

use facade::{all as everything, ls, read as look, *};
use llm_do::{CallContext, CallError, entry};

#[entry(toolsets = [look, write, ls])]
async fn start(ctx: &CallContext<start>) -> Result<usize, CallError> {
    ctx.call(ls {}).await?;
    ctx.call(write {}).await?;
    Ok(ctx.call(look { path: String::new() }).await? + look("a"))
}

#[entry(toolsets = [everything])]
async fn start_again(ctx: &CallContext<start_again>) -> Result<usize, CallError> {
    ctx.call(files::read { path: String::new() }).await
}

fn main() {}
