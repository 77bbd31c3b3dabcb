//! Tools and modules with the names of built-in attributes.

#![deny(warnings)]

use llm_do::{CallContext, CallError, Tool, entry, tool, toolset, worker};

/// Return a path.
#[tool(effect = read_only)]
fn path() -> String {
    "a/b".to_owned()
}

/// Return a link.
#[tool(effect = read_only)]
fn link(to: &str) -> String {
    to.to_owned()
}

/// Return what is tested.
#[tool(effect = read_only)]
fn coverage() -> u8 {
    90
}

/// Ignore something.
#[tool(effect = read_only)]
fn ignore() {}

/// Return a feature.
#[tool(effect = read_only)]
fn r#expect() -> u8 {
    1
}

mod doc {
    /// Return what is unstable.
    #[llm_do::tool(effect = read_only)]
    pub fn optimize() -> u8 {
        2
    }

    /// Return what is used.
    #[llm_do::tool(effect = read_only)]
    pub fn used() -> u8 {
        3
    }
}

toolset! {
    /// Tools with such names.
    pub attributes = [path, link, r#expect, doc::used];
}

/// Judge.
#[worker(toolsets = [path, ignore, coverage, doc::optimize])]
async fn judge(input: String) -> u8;

#[entry(toolsets = [attributes, coverage, ignore, doc::optimize])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<u8, CallError> {
    ctx.call(ignore {}).await?;
    ctx.call(link { to: ctx.call(path {}).await? }).await?;
    Ok(ctx.call(coverage {}).await? + ctx.call(doc::optimize {}).await? + ctx.call(r#expect {}).await?)
}

fn main() {
    assert_eq!(path::NAME, "path");
    assert_eq!(doc::used::NAME, "used");
}
