//! An approver that changes the arguments.

use llm_do::Runtime;
use llm_do::approval::{Decision, Policy, RefusedEdit, Rule, RuleSource};
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use serde_json::{Value, json};

use super::Scripted;

/// Send a mail.
#[tool(effect = destructive)]
fn mail(to: String, #[arg(default = 1)] copies: u8) -> String {
    format!("{copies} to {to}")
}

/// Sends a mail to Ann.
#[entry(toolsets = [mail])]
async fn post(ctx: &CallContext<post>) -> Result<String> {
    Ok(ctx.call(mail { to: "Ann".into(), copies: 1 }).await?)
}

async fn run(answers: &[Decision], policy: Policy) -> (Result<String, CallError>, Scripted, Recorder) {
    let (approver, recorder) = (Scripted::new(answers.to_vec()), Recorder::new());
    let builder = Runtime::builder().approver(approver.clone()).policy(policy).sink(recorder.clone());
    (builder.build().unwrap().run(post {}).await, approver, recorder)
}

/// The edited arguments in the events.
fn edits(recorder: &Recorder) -> Vec<Option<Value>> {
    let edit = |event: llm_do::event::Event| match event.kind {
        EventKind::ApprovalDecided { edited, .. } if &*event.name == "mail" => Some(edited),
        _ => None,
    };
    recorder.events().into_iter().filter_map(edit).collect()
}

/// The arguments that the call starts with in the events.
fn started(recorder: &Recorder) -> Option<Value> {
    recorder.events().into_iter().find_map(|event| match event.kind {
        EventKind::CallStarted { arguments, .. } if &*event.name == "mail" => Some(arguments.value().into_owned()),
        _ => None,
    })
}

#[tokio::test]
async fn the_call_runs_with_the_approvers_arguments_and_events_report_them() {
    let (result, _, recorder) = run(&[Decision::approve_with(json!({ "to": "Bob" }))], Policy::new()).await;
    assert_eq!(result.unwrap(), "1 to Bob");
    assert_eq!(edits(&recorder), [Some(json!({ "to": "Bob", "copies": 1 }))]);
    assert_eq!(started(&recorder), Some(json!({ "to": "Bob", "copies": 1 })));
}

#[tokio::test]
async fn events_of_a_journaled_call_have_the_arguments_that_run() {
    for (answer, expected) in [
        (Decision::approve(), json!({ "to": "Ann", "copies": 1 })),
        (Decision::approve_with(json!({ "to": "Bob" })), json!({ "to": "Bob", "copies": 1 })),
    ] {
        let recorder = Recorder::new();
        let builder = Runtime::builder().approver(Scripted::new(vec![answer])).sink(recorder.clone());
        let journal = MemoryJournal::new();
        builder.build().unwrap().start(post {}).journal(journal.clone()).await.unwrap();
        assert_eq!(started(&recorder), Some(expected));
        let proposed = journal.records().into_iter().find(|record| &*record.name == "mail").unwrap();
        assert_eq!(*proposed.input, json!({ "to": "Ann", "copies": 1 }));
    }
}

#[tokio::test]
async fn invalid_edits_are_asked_about_again_with_the_problem() {
    let wrong = Decision::approve_with(json!({ "to": 3, "copies": 300 }));
    let (result, approver, _) = run(&[wrong, Decision::approve()], Policy::new()).await;
    assert_eq!(result.unwrap(), "1 to Ann");
    let [first, second] = approver.asked().try_into().unwrap();
    assert_eq!(first.problem, None);
    let problem = second.problem.unwrap();
    assert!(problem.contains("/to") && problem.contains("/copies"), "{problem}");
    assert_eq!((first.arguments, first.position), (second.arguments, second.position));
}

#[tokio::test]
async fn an_edit_cannot_bypass_a_block() {
    let policy = Policy::new()
        .decide_with(|call| (call.arguments["to"] == "everybody").then(|| Rule::blocked("they would mind")));
    let everybody = Decision::approve_with(json!({ "to": "everybody" }));
    let (result, approver, _) = run(&[everybody, Decision::deny("then not")], policy).await;
    assert!(result.unwrap_err().is_denied());
    assert_eq!(approver.asked()[1].problem.as_deref(), Some("a rule blocks these arguments: they would mind"));
}

/// The edits that could not run, in the events.
fn refused(recorder: &Recorder) -> Vec<(Value, Option<RuleSource>, String)> {
    let refused = |kind| match kind {
        EventKind::EditRefused { arguments, rule, reason } => Some((arguments, rule, reason)),
        _ => None,
    };
    recorder.kinds().into_iter().filter_map(refused).collect()
}

#[tokio::test]
async fn an_edit_that_a_rule_refuses_is_shown_with_its_arguments_and_the_rule() {
    let policy = Policy::new()
        .decide_with(|call| (call.arguments["to"] == "everybody").then(|| Rule::blocked("they would mind")));
    let everybody = Decision::approve_with(json!({ "to": "everybody" }));
    let (result, approver, recorder) = run(&[everybody, Decision::approve()], policy).await;
    assert_eq!(result.unwrap(), "1 to Ann");
    let arguments = json!({ "to": "everybody", "copies": 1 });
    let [first, second] = approver.asked().try_into().unwrap();
    assert_eq!(first.refused_edit, None);
    let RefusedEdit { arguments: shown, rule, reason, .. } = second.refused_edit.clone().unwrap();
    assert_eq!((&shown, rule, &*reason), (&arguments, Some(RuleSource::Function), "they would mind"));
    assert!(second.details().contains("everybody") && second.arguments["to"] == "Ann", "{}", second.details());
    assert_eq!(refused(&recorder), [(arguments, Some(RuleSource::Function), "they would mind".to_owned())]);
    let kinds = recorder.kinds();
    let place = |is: fn(&EventKind) -> bool| kinds.iter().position(is).unwrap();
    let asked = place(|kind| matches!(kind, EventKind::ApprovalAsked { .. }));
    let refused = place(|kind| matches!(kind, EventKind::EditRefused { .. }));
    let decision = kinds.iter().rposition(|kind| matches!(kind, EventKind::ApprovalDecided { .. })).unwrap();
    assert!(asked < refused && refused < decision, "{kinds:?}");
}

#[tokio::test]
async fn an_invalid_edit_is_shown_with_its_fault_and_without_a_rule() {
    let wrong = json!({ "to": 3 });
    let (result, approver, recorder) =
        run(&[Decision::approve_with(wrong.clone()), Decision::approve()], Policy::new()).await;
    assert_eq!(result.unwrap(), "1 to Ann");
    let edit = approver.asked()[1].refused_edit.clone().unwrap();
    assert_eq!((&edit.arguments, &edit.rule), (&wrong, &None));
    let refused = refused(&recorder);
    assert_eq!((refused.len(), &refused[0].1), (1, &None));
    assert!(refused[0].2.contains("/to") && refused[0].2 == edit.reason, "{refused:?}");
}

#[tokio::test]
async fn equal_arguments_do_not_count_as_an_edit() {
    let same = json!({ "copies": 1, "to": "Ann" });
    let (result, _, recorder) = run(&[Decision::approve_with(same)], Policy::new()).await;
    assert_eq!(result.unwrap(), "1 to Ann");
    assert_eq!(edits(&recorder), [None]);
}

#[tokio::test]
async fn repeated_invalid_edits_deny_the_call() {
    let (result, approver, _) = run(&[Decision::approve_with(json!(3))], Policy::new()).await;
    let error = llm_do::error::chain(&result.unwrap_err());
    assert!(error.contains("edited arguments, or results, were invalid 10 times"), "{error}");
    assert_eq!(approver.asked().len(), 10);
}

#[tokio::test]
async fn an_edit_is_not_remembered() {
    let approver = Scripted::new([Decision::approve_with(json!({ "to": "Bob" })), Decision::approve()]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    assert_eq!(runtime.run(post {}).await.unwrap(), "1 to Bob");
    assert_eq!(runtime.run(post {}).await.unwrap(), "1 to Ann");
}
