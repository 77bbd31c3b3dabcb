//! Greets people.

use llm_do::prelude::*;

/// Return a text in capital letters.
#[tool(effect = read_only)]
fn shout(text: &str) -> String {
    text.to_uppercase()
}

/// Greet a person in one short sentence.
#[worker(toolsets = [shout])]
async fn greet(name: String) -> String;

/// Greets a person by name.
#[entry(toolsets = [greet])]
async fn hello(ctx: &CallContext<hello>, name: String) -> Result<String> {
    Ok(ctx.call(greet { name }).await?)
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
