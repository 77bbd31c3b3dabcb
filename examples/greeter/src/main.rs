//! A minimal llm-do program: a tool, a worker and an entry that calls both.

use llm_do::prelude::*;

/// Tidy up a name as the user typed it.
#[tool(effect = read_only)]
fn tidy(name: &str) -> String {
    let name = name.trim();
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    first.to_uppercase() + rest
}

/// Greet a person in one short sentence.
#[worker]
async fn greet(input: String) -> String;

/// Greets a person by name.
#[entry(toolsets = [tidy, greet])]
async fn hello(ctx: &CallContext<hello>, name: String) -> Result<String> {
    let name = ctx.call(tidy { name }).await?;
    Ok(ctx.call(greet { input: format!("Write a short, friendly greeting for {name}.") }).await?)
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().default_model("local:smollm2-135m-instruct").main()
}
