//! Generated code works without the prelude, although the derive of schemars calls `Into` for docs and defaults.

#![no_implicit_prelude]
#![deny(warnings)]

use ::llm_do::{CallContext, CallError, State, ToolContext, data, entry, tool, toolset, worker};
use ::std::convert::Into as _;
use ::std::option::Option;
use ::std::result::Result;
use ::std::string::String;

#[data]
struct Range {
    from: u32,
    to: Option<u32>,
}

/// Ping.
#[tool(effect = read_only, inline, args = Ping, name = "ping-it")]
fn ping(
    path: &::std::path::Path,
    words: &[String],
    #[arg(default = "a", description = "Which.")] which: String,
    #[arg(default)] limit: u8,
    #[schemars(range(min = 3))] times: Option<u8>,
    #[arg(flatten)] range: Range,
    state: State<u8>,
    ctx: &dyn ToolContext,
) -> Result<String, CallError> {
    let _ = (path, words, limit, times, range.from, range.to, state, ctx);
    Result::Ok(which)
}

/// Judge.
#[worker(
    compatible_models = ["test:*"],
    instructions = ::std::concat!("Judge", "."),
    toolsets = [Ping],
    server_side_tools = [web_search(max_uses = 3, allowed_domains = ["docs.rs"]), web_fetch],
    settings = ::llm_do::Settings::new().temperature(0.0),
    hints = ["facts"],
    output = tool,
    max_turns = 3,
    retries = 1
)]
async fn judge(input: String) -> Range;

fn words(state: State<u8>) -> Result<String, CallError> {
    let _ = state;
    Result::Ok(String::new())
}

/// With words.
#[worker(instructions_with = words)]
async fn judge_by_words(input: String) -> Range;

/// With a body.
#[worker]
async fn render(input: String, state: State<u8>) -> Range {
    let _ = state;
    input
}

toolset! {
    /// All of them.
    all = [prefixed("x_", Ping), judge, render.only([render])];
}

#[entry(toolsets = [all])]
async fn start(ctx: &CallContext<start>) -> Result<Range, CallError> {
    ctx.call(judge { input: String::new() }).await
}

fn main() {}
