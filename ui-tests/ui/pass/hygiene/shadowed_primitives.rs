//! Modules with the names of primitive types do not shadow the types.

#![deny(warnings)]
#![allow(dead_code, non_camel_case_types)]

mod u8 {}
mod u32 {}
mod usize {}
mod bool {}
mod str {}
mod f64 {}
mod char {}

/// Ping.
#[llm_do::tool(toolsets = [])]
fn ping(#[arg(default = 3)] number: ::core::primitive::u32, #[arg(flatten)] range: Range) -> ::core::primitive::usize {
    let _ = (number, range.from);
    3
}

#[llm_do::data]
struct Range {
    from: ::core::primitive::u8,
}

/// Judge.
#[llm_do::worker(
    max_turns = 3,
    retries = 1,
    server_side_tools = [web_search(max_uses = 3)],
    settings = llm_do::Settings::new(),
    toolsets = [prefixed("x_", ping)]
)]
async fn judge(input: ::std::string::String) -> ::core::primitive::bool;

#[llm_do::entry(toolsets = [ping, judge])]
async fn start(ctx: &llm_do::CallContext<start>) -> Result<::core::primitive::bool, llm_do::CallError> {
    ctx.call(judge { input: ::std::string::String::new() }).await
}

fn main() {}
