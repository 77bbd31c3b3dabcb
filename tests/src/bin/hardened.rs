//! An application for the tests of `harden --propose`: its model answers by a rule, and writes the script in the file `PROPOSED`.

use std::process::ExitCode;

use llm_do::cli::Cli;
use llm_do::json;
use llm_do::model::{Message, Request};
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

/// Return the kind of a word.
#[tool(effect = read_only)]
fn kind_of(word: &str) -> String {
    let kind = if word.contains("longest") { "long" } else { "short" };
    kind.to_owned()
}

/// Put a word on a shelf.
#[tool(effect = idempotent)]
fn shelve(word: &str, shelf: &str) -> bool {
    !word.is_empty() && !shelf.is_empty()
}

/// Put a short word on the shelf, and leave other words.
#[worker(toolsets = [kind_of, shelve])]
async fn sort_word(word: String) -> String;

/// Sorts words.
#[entry(toolsets = [sort_word])]
async fn sort_words(ctx: &CallContext<sort_words>, words: Vec<String>) -> Result<usize> {
    let mut shelved = 0;
    for word in words {
        shelved += usize::from(ctx.call(sort_word { word }).await? == "shelved");
    }
    Ok(shelved)
}

/// Returns the word of a prompt.
fn word_in(prompt: &str) -> &str {
    let start = prompt.find("longest").or(prompt.find("item")).unwrap_or_default();
    prompt[start..].split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default()
}

fn sort(request: &Request<'_>) -> Answer {
    let prompt = request.prompt();
    let word = word_in(&prompt);
    let made = request.messages.iter().filter(|message| matches!(message, Message::Tool { .. })).count();
    match (word.contains("longest"), made) {
        (_, 0) => Answer::call("kind_of", json!({ "word": word })),
        (false, 1) => Answer::call("shelve", json!({ "word": word, "shelf": "front" })),
        (false, _) => Answer::text("shelved"),
        (true, _) => Answer::text("left"),
    }
}

fn answer(request: &Request<'_>) -> Answer {
    let prompt = request.prompt();
    if request.instructions.is_some_and(|text| text.contains("You write a Python script")) {
        let script = std::env::var_os("PROPOSED").map(std::fs::read_to_string);
        return Answer::text(script.and_then(Result::ok).unwrap_or_default());
    }
    if !request.tools.is_empty() {
        return sort(request);
    }
    Answer::text(if prompt.contains("longest") { "long" } else { "short" })
}

fn main() -> ExitCode {
    let model = FunctionModel::answering(|request| answer(&request));
    Cli::new().configure(|builder| builder.force_model(model)).main()
}
