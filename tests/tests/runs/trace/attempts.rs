//! Logs of several attempts: a run that waited, failed or was killed, and was resumed.

use llm_do::approval::Decision;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::testing::Recorder;
use serde_json::{Value, json};

use super::read;

/// A log whose events have the numbers that the test gives.
#[derive(Default)]
struct Log {
    text: String,
    next: u64,
}

const MAIN: (u64, Option<u64>, &str) = (0, None, "main");

impl Log {
    /// Adds an event at a number of milliseconds after noon.
    fn at(&mut self, millis: u64, (call, parent, name): (u64, Option<u64>, &str), mut kind: Value) {
        let (minutes, seconds, millis) = (millis / 60_000, millis / 1_000 % 60, millis % 1_000);
        let event = json!({
            "run": "r", "call": call, "parent": parent, "seq": self.next, "depth": 0, "name": name,
            "time": format!("2026-07-28T12:{minutes:02}:{seconds:02}.{millis:03}Z"),
        });
        kind.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        self.text.extend([kind.to_string().as_str(), "\n"]);
        self.next += 1;
    }

    /// Begins an attempt, or leaves out events that repeat those of an earlier one.
    fn continue_at(&mut self, number: u64) {
        self.next = number;
    }
}

fn started(what: &str) -> Value {
    json!({ "kind": "call_started", "what": what, "by": "code", "arguments": {} })
}

fn finished(elapsed_ms: u64, is_replayed: bool) -> Value {
    json!({ "kind": "call_finished", "result": 1, "elapsed_ms": elapsed_ms, "replayed": is_replayed })
}

fn asked() -> Value {
    json!({ "kind": "approval_asked", "summary": "s", "arguments": {}, "position": 1, "total": 1 })
}

fn decided(by: &str, rule: &str) -> Value {
    json!({ "kind": "approval_decided", "approved": true, "by": by, "rule": rule, "scope": "call" })
}

/// Returns how long a call took, waited and worked, in milliseconds.
fn times(call: &Value) -> [u64; 3] {
    ["elapsed_ms", "waiting_ms", "working_ms"].map(|key| call[key].as_u64().unwrap())
}

fn lengths(call: &Value, keys: [&str; 2]) -> [usize; 2] {
    keys.map(|key| call[key].as_array().map_or(0, Vec::len))
}

/// The log of a service, which leaves out what a later attempt repeats; the journal's decision has another rule.
fn of_a_service() -> Log {
    let (one, two) = ((1, Some(0), "act"), (2, Some(0), "act"));
    let mut log = Log::default();
    log.at(0, MAIN, started("entry"));
    log.at(2, one, asked());
    log.at(10_000, one, decided("approver", "effect"));
    log.at(10_001, one, started("tool"));
    log.at(10_029, one, finished(28, false));
    log.at(10_030, two, asked());
    log.continue_at(1);
    log.at(22_900, one, decided("approver", "journal"));
    log.continue_at(5);
    log.at(22_905, two, decided("approver", "effect"));
    log.at(22_906, two, started("tool"));
    log.at(22_934, two, finished(28, false));
    log.at(22_935, MAIN, finished(35, false));
    log
}

#[test]
fn a_replayed_decision_does_not_extend_its_call_and_is_not_a_second_approval() {
    let root = &read(&of_a_service().text).to_json()["runs"][0];
    let calls = root["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(times(&calls[0]), [10_027, 9_998, 29], "{root}");
    assert_eq!(times(&calls[1]), [12_904, 12_875, 29], "{root}");
    assert_eq!(calls.iter().map(|call| lengths(call, ["approvals", "requests"])[0]).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(calls[0]["approvals"][0]["decided"]["rule"], "effect");
    let [elapsed, waiting, working] = times(root);
    assert_eq!((waiting, root["status"].as_str()), (9_998 + 12_875, Some("finished")), "{root}");
    assert!(elapsed <= 22_935 && (58..100).contains(&working), "{root}");
}

/// The log of a program that was killed while it waited, and resumed its run 15 seconds later: calls have other numbers then, since
/// the worker is replayed as a whole.
fn of_a_killed_program() -> Log {
    let (worker, tool) = ((1, Some(0), "draft"), (2, Some(1), "look_up"));
    let usage =
        json!({ "requests": 1, "input_tokens": 100, "output_tokens": 10, "cached_tokens": 0, "reasoning_tokens": 0 });
    let used = json!({
        "kind": "usage", "tool_calls": 1, "requests": 1, "input_tokens": 100, "output_tokens": 10, "cached_tokens": 0,
        "reasoning_tokens": 0, "cost": { "known": "0.003", "unpriced_requests": 0 },
    });
    let mut log = Log::default();
    log.at(0, MAIN, decided("policy", "user"));
    log.at(1, MAIN, started("entry"));
    log.at(1, MAIN, json!({ "kind": "progress", "text": "half" }));
    log.at(2, worker, started("worker"));
    log.at(3, worker, json!({ "kind": "model_request", "model": "m:l", "turn": 1, "messages": 1, "tools": [] }));
    log.at(1_003, worker, json!({ "kind": "model_response", "model": "l", "parts": [], "usage": usage }));
    log.at(1_003, worker, used.clone());
    log.at(1_004, tool, decided("policy", "effect"));
    log.at(1_004, tool, started("tool"));
    log.at(1_014, tool, finished(10, false));
    log.at(1_015, worker, finished(1_013, false));
    log.at(1_020, (3, Some(0), "send"), asked());
    log.at(
        5_000,
        (3, Some(0), "send"),
        json!({
            "kind": "approval_decided", "approved": false, "by": "cancellation", "rule": "effect", "scope": "call",
            "reason": "the run was cancelled",
        }),
    );
    log.at(5_000, (3, Some(0), "send"), json!({ "kind": "call_refused", "by": "code", "error": "cancelled" }));
    log.at(5_000, MAIN, json!({ "kind": "call_finished", "error": "cancelled", "elapsed_ms": 4_999 }));
    log.continue_at(0);
    log.at(20_000, MAIN, decided("policy", "user"));
    log.at(20_001, MAIN, started("entry"));
    log.at(20_001, MAIN, json!({ "kind": "progress", "text": "half" }));
    log.at(20_002, worker, started("worker"));
    log.at(20_003, worker, finished(1, true));
    let send = (2, Some(0), "send");
    log.at(20_004, send, asked());
    log.at(22_000, send, decided("approver", "effect"));
    log.at(22_001, send, started("tool"));
    log.at(22_029, send, finished(28, false));
    log.at(22_030, MAIN, finished(2_029, false));
    log.at(22_031, MAIN, used);
    log
}

#[test]
fn a_resumed_run_is_one_tree_although_its_calls_have_other_numbers() {
    let trace = read(&of_a_killed_program().text).to_json();
    assert_eq!(trace["runs"].as_array().unwrap().len(), 1);
    let root = &trace["runs"][0];
    let calls = root["calls"].as_array().unwrap();
    let named = |call: &Value| [call["name"].clone(), call["status"].clone()];
    let named: Vec<_> = calls.iter().map(named).collect();
    assert_eq!(named, [["draft", "finished"], ["send", "finished"]]);
    assert_eq!(calls[0]["calls"][0]["name"], "look_up");
    assert_eq!((root["status"].as_str(), &root["error"]), (Some("finished"), &Value::Null));
    assert_eq!(lengths(root, ["approvals", "remarks"]), [1, 0]);
    assert_eq!(lengths(&calls[0], ["approvals", "requests"]), [0, 1]);
    assert_eq!(lengths(&calls[1], ["approvals", "requests"]), [1, 0], "asked again after it was interrupted");
}

#[test]
fn durations_are_of_the_attempt_that_did_the_work_and_cost_counts_once() {
    let root = &read(&of_a_killed_program().text).to_json()["runs"][0];
    let worker = &root["calls"][0];
    assert_eq!((times(worker), worker["replayed"].as_bool()), ([1_013, 0, 1_013], None), "{worker}");
    assert_eq!(times(&worker["calls"][0]), [10, 0, 10]);
    // 1.02 to 22 s.
    assert_eq!(times(&root["calls"][1]), [20_980 + 29, 20_980, 29]);
    assert_eq!(times(root)[1..], [20_980, 1_013 + 29 + 1], "nothing between the attempts: {root}");
    let figures = |call: &Value| (call["total"]["requests"].clone(), call["total"]["input_tokens"].clone());
    assert_eq!((figures(root), figures(worker)), ((json!(1), json!(100)), (json!(1), json!(100))));
}

#[test]
fn a_call_that_its_process_left_is_timed_by_the_attempt_that_ended_it() {
    let act = (1, Some(0), "act");
    let mut log = Log::default();
    log.at(0, MAIN, started("entry"));
    log.at(1, act, started("tool"));
    // Another process repeats both events, which the service leaves out.
    log.at(50_000, act, finished(28, false));
    log.at(50_001, MAIN, finished(30, false));
    let root = &read(&log.text).to_json()["runs"][0];
    assert_eq!(times(&root["calls"][0]), [28, 0, 28]);
}

#[test]
fn a_log_that_begins_with_a_replay_marks_it() {
    let mut log = Log::default();
    log.at(0, MAIN, started("entry"));
    log.at(1, (1, Some(0), "act"), decided("approver", "journal"));
    log.at(1, (1, Some(0), "act"), started("tool"));
    log.at(2, (1, Some(0), "act"), finished(1, true));
    let call = &read(&log.text).to_json()["runs"][0]["calls"][0];
    assert_eq!((&call["replayed"], &call["approvals"][0]["decided"]["replayed"]), (&json!(true), &json!(true)));
}

#[test]
fn a_log_whose_numbers_go_back_and_forth_is_read_in_time() {
    let mut log = Log::default();
    for number in 0..40_000 {
        log.continue_at(number % 2);
        log.at(number, (number % 3, (number % 3).checked_sub(1), "again"), started("tool"));
    }
    let begun = std::time::Instant::now();
    read(&log.text);
    // Unoptimized, on a busy machine.
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// Send a letter.
#[tool(effect = destructive)]
fn send_letter(to: String) -> String {
    format!("sent to {to}")
}

/// Sends two letters.
#[entry(toolsets = [send_letter])]
async fn send_both(ctx: &CallContext<send_both>) -> Result<String> {
    ctx.progress("begun");
    let first = ctx.call(send_letter { to: "Ann".into() }).await?;
    Ok(first + &ctx.call(send_letter { to: "Bob".into() }).await?)
}

#[tokio::test]
async fn the_events_of_a_run_and_of_its_resumption_are_one_run() {
    let (recorder, journal) = (Recorder::new(), MemoryJournal::new());
    let attempt = async |journal: MemoryJournal, letters: &'static str| {
        let builder = Runtime::builder().sink(recorder.clone()).approve_with(move |request| {
            let is_answered = request.arguments["to"].as_str().is_some_and(|to| letters.contains(to));
            async move { if is_answered { Decision::approve() } else { Decision::undecided("no answer") } }
        });
        let runtime = builder.build().unwrap();
        let ended = runtime.start(send_both {}).journal(journal).await;
        runtime.flush().await;
        ended
    };
    attempt(journal.clone(), "Ann").await.unwrap_err();
    assert_eq!(attempt(journal.replayed(), "Bob").await.unwrap(), "sent to Annsent to Bob");
    let log: String = recorder.events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    assert!(log.contains(r#""replayed":true"#), "{log}");
    let trace = read(&log).to_json();
    assert_eq!(trace["runs"].as_array().unwrap().len(), 1, "{trace}");
    let root = &trace["runs"][0];
    let calls = root["calls"].as_array().unwrap();
    assert_eq!((calls.len(), &root["status"]), (2, &json!("finished")), "{root}");
    assert!(calls.iter().all(|call| call["status"] == "finished" && call.get("replayed").is_none()), "{root}");
    assert_eq!(lengths(&calls[0], ["approvals", "requests"]), [1, 0], "{root}");
    // The second question had no answer at first.
    let verdicts: Vec<_> =
        calls[1]["approvals"].as_array().unwrap().iter().map(|one| &one["decided"]["approved"]).collect();
    assert_eq!(verdicts, [&json!(false), &json!(true)], "{root}");
}
