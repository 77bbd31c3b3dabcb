//! Generated code uses absolute paths, so items of the user cannot change its meaning.

#![allow(dead_code, non_camel_case_types)]

struct Option;
struct None;
struct Result;
struct Ok;
struct Err;
struct String;
struct Vec;
struct Box;
struct Into;
struct Default;
struct Send;
struct Sized;
struct Clone;
struct From;
struct Drop;
struct Fn;
struct FnOnce;
struct Serialize;
struct Tool;
struct Toolset;
struct CallError;
mod core {}
mod std {}
mod alloc {}
mod serde {}
mod schemars {}
mod inventory {}
mod llm_do {}
const MEMBERS: &::std::primitive::str = "a";
const DECLARATION: &::std::primitive::str = "b";

/// Read a file.
#[::llm_do::tool(effect = read_only, inline)]
fn read_file(
    path: &::std::path::Path,
    #[arg(default = 3)] lines: u64,
    #[arg(default = "a")] mode: ::std::string::String,
    tags: &[u8],
    limit: ::std::option::Option<u8>,
) -> ::std::result::Result<::std::string::String, ::std::fmt::Error> {
    let _ = (path, lines, mode, tags, limit);
    ::std::result::Result::Ok(::std::string::String::new())
}

/// Wait.
#[::llm_do::tool(description = MEMBERS)]
async fn wait(#[arg(default = "a")] text: ::std::string::String, ctx: &::llm_do::CallContext) -> u64 {
    let _ = (text, ctx);
    1
}

#[::llm_do::worker(toolsets = [read_file, "b"], instructions = DECLARATION, max_turns = 3)]
/// Judge.
async fn judge(text: ::std::string::String) -> u8;

async fn words() -> ::std::string::String {
    ::std::string::String::new()
}

/// Judge by words.
#[::llm_do::worker(instructions_with = words)]
async fn judge_by_words(text: ::std::string::String) -> u8;

::llm_do::toolset! {
    /// All of them.
    all = [read_file, wait, judge];
}

#[::llm_do::entry(toolsets = [all])]
async fn start(ctx: &::llm_do::CallContext<start>) -> ::std::result::Result<u8, ::llm_do::CallError> {
    ctx.call(judge { text: ::std::string::String::new() }).await
}

fn main() {}
