//! A raw identifier works wherever a name does.

#![deny(warnings)]

use llm_do::{CallContext, CallError, State, entry, tool, toolset, worker};

/// Match.
#[tool(args = r#struct)]
fn r#match(r#type: &str, #[arg(default = 3)] r#in: u8, r#fn: Option<u8>, #[ctx] r#mut: State<u8>) -> u8 {
    let _ = (r#type, r#fn);
    r#in + *r#mut
}

mod r#mod {
    /// Loop.
    #[llm_do::tool]
    pub fn r#loop() {}
}

/// Judge.
#[worker(toolsets = [r#mod::r#loop])]
async fn r#if(r#else: String) -> u8 {
    r#else
}

toolset! {
    /// All.
    r#use = [r#struct, r#mod::r#loop.only([r#mod::r#loop]), r#if];
}

#[entry(toolsets = [r#use])]
async fn r#where(ctx: &CallContext<r#where>) -> Result<u8, CallError> {
    ctx.call(r#mod::r#loop {}).await?;
    ctx.call(r#if { r#else: String::new() }).await?;
    ctx.call(r#struct { r#type: String::new(), r#in: 3, r#fn: None }).await
}

fn main() {}
