//! The model `demo:investor`, which follows rules: for runs without a network and without a key.
//!
//! It shows what a model does in each stage, not how good its judgement is.

use std::sync::Arc;

use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Value, json};

use crate::Evaluation;

/// What a strong deck contains.
const STRENGTHS: [&str; 4] = ["Customers:", "Revenue:", "Team:", "Solution:"];

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    let has = |tool: &str| request.tools.iter().any(|known| &*known.name == tool);
    if has("write_file") {
        with_files(request)
    } else if has("write_report") {
        with_tools(request)
    } else {
        Answer::output(json!(evaluation(&request.prompt())))
    }
}

/// The first stage: lists the decks, and reads, evaluates and reports each.
fn with_files(request: Request<'_>) -> Answer {
    let Some(listed) = request.results("list_files").next() else {
        return Answer::call("list_files", json!({ "path": "decks" }));
    };
    let decks: Vec<_> = listed.content.lines().filter(|line| line.starts_with("decks/")).collect();
    let read: Vec<_> = request.results("read_file").collect();
    let written = request.results("write_file").count();
    if written < read.len() {
        // Each line has its number before it.
        let lines = read[written].content.lines().map(|line| line.split_once('\t').map_or(line, |(_, line)| line));
        let report = evaluation(&lines.collect::<Vec<_>>().join("\n")).report();
        let name = decks[written].trim_start_matches("decks/");
        return Answer::call("write_file", json!({ "path": format!("reports/{name}"), "content": report }));
    }
    match decks.get(read.len()) {
        Some(deck) => Answer::call("read_file", json!({ "path": deck })),
        None => Answer::text(format!("{} reports are in `reports`.", decks.len())),
    }
}

/// The second stage: the tools know where decks and reports are, and another worker evaluates.
fn with_tools(request: Request<'_>) -> Answer {
    let Some(listed) = request.results("list_decks").next() else { return Answer::call("list_decks", json!({})) };
    let decks = parsed(&listed.content);
    let decks: Vec<_> = decks.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let evaluated: Vec<_> = request.results("evaluate").collect();
    let written = request.results("write_report").count();
    match (evaluated.get(written), decks.get(evaluated.len())) {
        (Some(evaluation), _) => {
            let evaluation = parsed(&evaluation.content);
            Answer::call("write_report", json!({ "deck": decks[written], "evaluation": evaluation }))
        }
        (None, Some(deck)) => Answer::call("evaluate", json!({ "deck": deck })),
        (None, None) => Answer::text(format!("{} reports are in `reports`.", decks.len())),
    }
}

/// Judges by the headings that a deck has.
fn evaluation(deck: &str) -> Evaluation {
    let line = |start: &str| deck.lines().find_map(|line| line.split_once(start).map(|(_, rest)| rest));
    let sentence = |start: &str| Some(format!("{start}{}", line(start)?.split('.').next().unwrap_or_default()));
    let strengths: Vec<_> = STRENGTHS.into_iter().filter_map(sentence).filter(|text| !text.contains("none")).collect();
    Evaluation {
        company: line("# ").unwrap_or("unknown").trim().to_owned(),
        score: 1 + u8::try_from(strengths.len()).unwrap_or(4),
        strengths,
        risks: line("Risk:").map(|risk| risk.trim().to_owned()).into_iter().collect(),
    }
}

fn parsed(json: &str) -> Value {
    json.parse().unwrap_or_default()
}
