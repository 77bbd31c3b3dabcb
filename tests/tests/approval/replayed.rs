//! Recorded runs, decided again by another policy.

use llm_do::approval::{ApprovalScope, Decision, Policy, Rule};
use llm_do::harden::{NowDecided, PolicyReplay, PolicyReport, RecordedDecision};
use llm_do::journal::{MemoryJournal, Record};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::ScriptedModel;
use llm_do::{Runtime, Value, json};

/// Send a parcel.
#[tool(effect = destructive)]
fn mail_parcel(to: String, grams: u32) {
    let _ = (to, grams);
}

/// Look up a parcel.
#[tool(effect = read_only)]
fn find_parcel(to: String) -> usize {
    to.len()
}

/// Send parcels.
#[worker(toolsets = [mail_parcel, find_parcel])]
async fn ship(input: String) -> String;

/// Sends two equal parcels.
#[entry(toolsets = [mail_parcel])]
async fn ship_twice(ctx: &CallContext<ship_twice>, to: String) -> Result<()> {
    ctx.call(mail_parcel { to: to.clone(), grams: 5 }).await?;
    Ok(ctx.call(mail_parcel { to, grams: 5 }).await?)
}

fn parcel(to: &str, grams: u32) -> Value {
    json!({ "to": to, "grams": grams })
}

/// Records a run of `ship` whose model looks up a parcel, sends one of 100 grams, which a person approves, and one of 9 kilograms, which
/// is denied.
async fn shipped() -> Vec<Record> {
    let model = ScriptedModel::new()
        .call("find_parcel", json!({ "to": "Ann" }))
        .call("mail_parcel", parcel("Ann", 100))
        .call("mail_parcel", parcel("Bob", 9000))
        .text("done");
    let decide = |request: llm_do::approval::ApprovalRequest| async move {
        if request.arguments["grams"].as_u64() < Some(1000) { Decision::approve() } else { Decision::deny("heavy") }
    };
    let journal = MemoryJournal::new();
    let runtime = Runtime::builder().force_model(model).approve_with(decide).build().unwrap();
    runtime.start(ship { input: "go".to_owned() }).journal(journal.clone()).await.unwrap();
    journal.records()
}

fn replayed(builder: RuntimeBuilder, runs: &[Vec<Record>]) -> PolicyReport {
    let mut replay = PolicyReplay::new(builder).unwrap();
    runs.iter().for_each(|records| replay.add(Some("run-1"), records));
    replay.report().clone()
}

fn light(grams: u32) -> Value {
    json!({ "properties": { "grams": { "maximum": grams } } })
}

/// The differences: the tool, what was decided, what would be, and how many calls.
fn changes(report: &PolicyReport) -> Vec<(&str, RecordedDecision, NowDecided, u64)> {
    report.changes.iter().map(|change| (&*change.tool, change.recorded, change.now, change.calls)).collect()
}

#[tokio::test]
async fn the_same_rules_decide_as_recorded() {
    let report = replayed(Runtime::builder(), &[shipped().await]);
    assert!(report.is_same(), "{report}");
    assert_eq!((report.runs, report.calls, report.passed, report.asked, report.blocked), (1, 3, 1, 2, 0), "{report}");
    assert_eq!(report.asked_before, 2);
    assert_eq!(report.cost.unpriced_requests, 4, "each request is counted: {report}");
}

#[tokio::test]
async fn calls_that_would_be_asked_about_passed_or_blocked_are_reported_with_examples() {
    let policy = Policy::new().tool("find_parcel", Rule::Ask).when("mail_parcel", light(500), Rule::PreApproved).when(
        "mail_parcel",
        json!({ "properties": { "to": { "const": "Bob" } } }),
        Rule::blocked("not him"),
    );
    let runs = [shipped().await, shipped().await];
    let report = replayed(Runtime::builder().policy(policy), &runs);
    assert_eq!(
        changes(&report),
        [
            ("find_parcel", RecordedDecision::Passed, NowDecided::Asks, 2),
            ("mail_parcel", RecordedDecision::Approved, NowDecided::Passes, 2),
            ("mail_parcel", RecordedDecision::Denied, NowDecided::Blocks, 2),
        ]
    );
    assert_eq!((report.changed_runs, report.changed_calls(), report.changed_cost), (2, 6, report.cost));
    let text = report.to_string();
    for part in [
        "2 runs with 6 calls: 2 pass, 2 need approval, 2 are blocked",
        "mail_parcel: 2 calls were approved, and would run without a question",
        "run run-1: mail_parcel(to=\"Bob\", grams=9000) by `ship`",
    ] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[tokio::test]
async fn an_approval_for_the_run_answers_equal_calls() {
    let journal = MemoryJournal::new();
    let decide = |_| async { Decision::approve_for(ApprovalScope::Run) };
    let runtime = Runtime::builder().approve_with(decide).build().unwrap();
    runtime.start(ship_twice { to: "Ann".to_owned() }).journal(journal.clone()).await.unwrap();
    let report = replayed(Runtime::builder(), &[journal.records()]);
    assert!(report.is_same() && report.asked == 2, "{report}");
}

#[tokio::test]
async fn a_rule_by_caller_sees_the_recorded_caller() {
    let by = |caller: &str| {
        let policy = Policy::new().when_called_by(caller, "mail_parcel", light(500), Rule::PreApproved);
        Runtime::builder().policy(policy)
    };
    let runs = [shipped().await];
    assert_eq!(replayed(by("ship"), &runs).passed, 2);
    assert!(replayed(by("ship_twice"), &runs).is_same());
}

#[tokio::test]
async fn calls_of_unknown_tools_are_counted_apart() {
    let mut records = shipped().await;
    for record in records.iter_mut().filter(|record| &*record.name == "find_parcel") {
        record.name = "lost_tool".into();
    }
    let report = replayed(Runtime::builder(), &[records]);
    assert_eq!(report.left_out["lost_tool: unknown tool"], 1, "{report}");
    assert!(report.is_same() && report.calls == 2, "the other calls are decided about");
}
