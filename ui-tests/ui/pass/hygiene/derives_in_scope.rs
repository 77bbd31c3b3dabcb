//! Items with the names of traits, derives and attributes in generated code do not change its meaning.

#![deny(warnings)]
#![allow(unused_macros, dead_code)]

macro_rules! derive {
    () => {};
}
macro_rules! concat {
    () => {};
}
macro_rules! vec {
    () => {};
}
macro_rules! line {
    () => {};
}
macro_rules! file {
    () => {};
}
macro_rules! module_path {
    () => {};
}
macro_rules! include_str {
    () => {};
}

trait Serialize {}
trait Deserialize {}
trait JsonSchema {}
trait Default {}
trait FromText {}
trait FromContext {}

/// A range.
#[llm_do::data]
struct Range {
    from: u32,
}

/// Ping.
#[llm_do::tool]
fn ping(#[arg(default = "a")] text: String, range: Option<Range>, state: llm_do::State<u8>) -> Option<Range> {
    let _ = (text, state);
    range
}

/// Judge.
#[llm_do::worker(server_side_tools = [web_fetch], file = "../worker/bare.worker")]
async fn judge(text: String) -> Range;

#[llm_do::entry(toolsets = [ping, judge])]
async fn start(ctx: &llm_do::CallContext<start>) -> Result<Range, llm_do::CallError> {
    ctx.call(judge { text: String::new() }).await
}

fn main() {
    let _ = <ping as ::core::default::Default>::default();
}
