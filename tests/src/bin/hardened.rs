//! An application for the tests of `harden --propose`: its model answers by a rule, and writes the script in the file `PROPOSED`.

use std::process::ExitCode;

use llm_do::cli::Cli;
use llm_do::model::Request;
use llm_do::prelude::*;
use llm_do::testing::{Answer, FunctionModel};

/// Return the length of a word: short or long.
#[worker]
async fn length(word: String) -> String;

/// Rates words.
#[entry(toolsets = [length])]
async fn rate(ctx: &CallContext<rate>, words: Vec<String>) -> Result<usize> {
    let mut long = 0;
    for word in words {
        long += usize::from(ctx.call(length { word }).await? == "long");
    }
    Ok(long)
}

fn answer(request: &Request<'_>) -> Answer {
    let prompt = request.prompt();
    if request.instructions.is_some_and(|text| text.contains("You write a Python script")) {
        let script = std::env::var_os("PROPOSED").map(std::fs::read_to_string);
        return Answer::text(script.and_then(Result::ok).unwrap_or_default());
    }
    Answer::text(if prompt.contains("longest") { "long" } else { "short" })
}

fn main() -> ExitCode {
    let model = FunctionModel::answering(|request| answer(&request));
    Cli::new().configure(|builder| builder.force_model(model)).main()
}
