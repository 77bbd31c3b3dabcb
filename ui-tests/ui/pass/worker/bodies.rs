//! The body of a worker is a separate function: it returns a string or a prompt, and errors with `?`.

#![deny(warnings)]

use std::borrow::Cow;

use llm_do::{CallContext, Prompt, State, ToolContext, tool, worker};

/// Read.
#[tool]
fn read() -> String {
    String::new()
}

/// A `String`.
#[worker]
async fn owned(text: String) -> u8 {
    format!("DecidedBy {text}.")
}

/// A literal.
#[worker]
async fn literal() -> u8 {
    "Judge."
}

/// A borrowed argument.
#[worker]
async fn borrowed(text: &str, words: &[String]) -> u8 {
    let _ = words;
    text
}

/// A prompt.
#[worker]
async fn prompt(mut prompt: Prompt) -> Result<u8, llm_do::CallError> {
    prompt = prompt.attach_file("a.png");
    prompt
}

/// Either.
#[worker]
async fn either(text: Option<String>) -> u8 {
    let text: Cow<'static, str> = text.map_or("none".into(), Into::into);
    text
}

/// By `?`, and by `return`.
#[worker]
async fn failing(path: &std::path::Path) -> u8 {
    if path.as_os_str().is_empty() {
        return Err("no path".into());
    }
    let number: u8 = "3".parse()?;
    std::fs::read_to_string(path)? + &number.to_string()
}

/// With what is injected.
#[worker(toolsets = [read])]
async fn injected(ctx: &CallContext<injected>, text: String, state: State<u8>) -> u8 {
    format!("{text}{}{}", ctx.call(read {}).await?, *state)
}

/// With a context of any declaration.
#[worker]
async fn stubbed(ctx: &dyn ToolContext) -> u8 {
    ctx.call_tool("read", llm_do::json!({})).await?.to_string()
}

fn main() {}
