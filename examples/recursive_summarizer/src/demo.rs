//! The model `demo:reader`, which follows rules: it calls `summarize` for each part, and keeps the first sentence of a text.

use std::sync::Arc;

use llm_do::json;
use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let prompt = request.prompt();
    let summaries: Vec<_> = request.results("summarize").map(|result| result.content.as_str()).collect();
    let Some((file, parts)) = parts(&prompt) else {
        return Answer::text(prompt.lines().next().unwrap_or_default());
    };
    match parts.get(summaries.len()) {
        Some([first, last]) => Answer::call("summarize", json!({ "file": file, "first": first, "last": last })),
        None => Answer::text(summaries.join("\n")),
    }
}

/// Reads a prompt that names parts: the file, and the first and last lines of each part.
fn parts(prompt: &str) -> Option<(&str, Vec<[usize; 2]>)> {
    let (file, rest) = prompt.strip_prefix('`')?.split_once("` is too long.")?;
    let numbers = rest.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    Some((file, numbers.chunks_exact(2).map(|part| [part[0], part[1]]).collect()))
}
