//! The model `demo:lead`, which follows rules: it creates the worker `team` once, and then is that worker too.

use std::sync::Arc;

use llm_do::json;
use llm_do::model::{Request, model_provider};
use llm_do::testing::{Answer, FunctionModel};

const TEAMS: [(&str, &str); 3] = [("broken", "service"), ("invoice", "accounting"), ("arrive", "delivery")];

model_provider!("demo", |_name| Ok(Arc::new(FunctionModel::answering(answer))));

fn answer(request: Request<'_>) -> Answer {
    if request.tools.iter().any(|tool| &*tool.name == "worker_create") { lead(request) } else { team(request) }
}

fn lead(request: Request<'_>) -> Answer {
    let Some(complaints) = request.results("complaints").next() else {
        return Answer::call("complaints", json!({}));
    };
    match request.results("worker_create").next() {
        None => create(),
        // A worker of an earlier run has this name.
        Some(created) if created.is_error => Answer::text(&created.content),
        Some(_) => call_or_answer(request, &complaints.content),
    }
}

fn create() -> Answer {
    let instructions = "Answer with one word: delivery, accounting or service. If no team fits, answer: none.";
    let description = "Names the team that a complaint belongs to.";
    Answer::call("worker_create", json!({ "name": "team", "description": description, "instructions": instructions }))
}

/// Calls the worker for the next complaint, or lists all complaints with their teams.
fn call_or_answer(request: Request<'_>, complaints: &str) -> Answer {
    let teams: Vec<_> = request.results("worker_call").map(|result| &*result.content).collect();
    if let Some(complaint) = complaints.lines().nth(teams.len()) {
        return Answer::call("worker_call", json!({ "worker": "team", "input": complaint }));
    }
    let lines = teams.iter().zip(complaints.lines()).map(|(team, complaint)| format!("{team}: {complaint}"));
    Answer::text(lines.collect::<Vec<_>>().join("\n"))
}

fn team(request: Request<'_>) -> Answer {
    let complaint = request.prompt();
    Answer::text(TEAMS.into_iter().find(|(word, _)| complaint.contains(word)).map_or("none", |(_, team)| team))
}
