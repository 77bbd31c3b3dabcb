//! Dry runs of scripts and of code of models: both run, and their calls are judged.

use llm_do::dry_run::{Plan, PlannedApproval};
use llm_do::script::ScriptTool;
use llm_do::{CallError, Value, json};

use super::code_mode::command;
use crate::script::{Log, builder, with_body};

/// Runs scripts dry, of which the first is called; returns the result, the plan and what tools did.
async fn dry(scripts: &[(&str, String)]) -> (Result<Value, CallError>, Plan, Log) {
    let (builder, log) = builder();
    let tools = scripts.iter().map(|(name, text)| ScriptTool::parse(name, text).unwrap());
    let runtime = tools.fold(builder, |builder, tool| builder.tool(tool)).build().unwrap();
    let start = runtime.start_named(scripts[0].0, json!({})).dry_run();
    let handle = start.handle();
    let result = start.await;
    (result, handle.plan(), log)
}

fn names(plan: &Plan) -> Vec<(&str, bool)> {
    plan.calls.iter().map(|call| (&*call.name, call.ran)).collect()
}

#[tokio::test]
async fn a_script_runs_and_its_calls_are_judged() {
    let body = "    try:\n        erase(id=len(search(word='o')))\n    except RuntimeError as error:\n        return str(error)";
    let (result, plan, log) = dry(&[("main", with_body("def main() -> Any:", body))]).await;
    let text = result.unwrap();
    assert!(text.as_str().unwrap().starts_with("`erase` did not run, since this is a dry run"), "{text}");
    assert_eq!(names(&plan), [("erase", false)]);
    assert_eq!(plan.calls[0].arguments, json!({ "id": 3 }));
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn a_script_that_ends_at_a_planned_call_keeps_the_type_of_the_error() {
    let (result, plan, _) = dry(&[("main", with_body("def main() -> Any:", "    return erase(id=1)"))]).await;
    assert!(result.unwrap_err().is_dry_run());
    assert_eq!(names(&plan), [("erase", false)]);
}

#[tokio::test]
async fn a_script_that_would_ask_for_its_effect_runs_unasked_and_is_planned_with_its_calls() {
    let outer = "def main() -> object:\n    \"\"\"\n    ---\n    toolsets: [clean]\n    ---\n    Do it.\n    \"\"\"\n    return clean()\n";
    let clean = with_body("def clean() -> Any:", "    erase(id=len(search(word='o')))\n    return 1");
    let (result, plan, log) = dry(&[("main", outer.to_owned()), ("clean", clean)]).await;
    assert!(result.unwrap_err().is_dry_run());
    assert_eq!(names(&plan), [("clean", true), ("erase", false)]);
    assert_eq!(plan.calls[0].approval, PlannedApproval::Asked);
    assert!(log.lines().is_empty());
}

#[test]
fn code_of_a_model_runs_and_its_calls_are_judged() {
    let code =
        "try:\n    close_ticket(len(list_tickets()), 'old')\nexcept RuntimeError as error:\n    x = str(error)\nx";
    let lines = command(&["dry", code]);
    assert!(lines[0].as_str().unwrap().contains("`close_ticket` did not run, since this is a dry run"), "{lines:?}");
    let planned = &lines[1]["calls"];
    assert_eq!(planned.as_array().unwrap().len(), 1, "{lines:?}");
    assert_eq!((&planned[0]["name"], &planned[0]["arguments"]["id"]), (&json!("close_ticket"), &json!(8)));
    assert_eq!(lines[2], json!([]));
}
