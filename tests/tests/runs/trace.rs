//! Logs as trees of calls.

mod attempts;

use std::io::{self, BufReader, Read};
use std::time::{Duration, Instant};

use llm_do::event::{Clock, Timestamp};
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::trace::Trace;
use llm_do::usage::Usage;
use serde_json::{Value, json};

/// Look something up.
#[tool(effect = read_only, inline)]
fn look_up(word: String) -> Result<String> {
    if word == "unknown" { Err("no such word".into()) } else { Ok(format!("{word}: a word")) }
}

/// Explain a word.
#[worker(toolsets = [look_up], instructions = "Explain.")]
async fn explain(input: String) -> String;

/// Explains two words.
#[entry(toolsets = [explain])]
async fn explain_both(ctx: &CallContext<explain_both>) -> Result<String> {
    let first = ctx.call(explain { input: "one".into() }).await?;
    Ok(first + &ctx.call(explain { input: "unknown".into() }).await?)
}

fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let part = match request.messages.len() {
            1 => ResponsePart::ToolCall(ToolCall::new("c", "look_up", json!({ "word": request.prompt() }).to_string())),
            _ => ResponsePart::Text { text: "explained".into() },
        };
        Ok(Response::new("m", vec![part], Usage::of_request(100, 10)))
    })
}

/// A clock that goes on by a second each time that it is read.
#[derive(Debug, Default)]
struct Seconds(std::sync::atomic::AtomicI64);

impl Clock for Seconds {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)).unwrap()
    }
}

async fn log() -> String {
    let recorder = Recorder::new();
    let runtime =
        Runtime::builder().force_model(model()).clock(Seconds::default()).sink(recorder.clone()).build().unwrap();
    runtime.run(explain_both {}).await.unwrap();
    runtime.flush().await;
    recorder.events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect()
}

fn read(log: &str) -> Trace {
    Trace::read(log.as_bytes()).unwrap()
}

#[tokio::test]
async fn a_tree_has_calls_outcomes_times_and_figures() {
    let trace = read(&log().await).to_json();
    let root = &trace["runs"][0];
    assert_eq!(
        (&root["name"], &root["what"], &root["status"]),
        (&json!("explain_both"), &json!("entry"), &json!("finished"))
    );
    let workers = root["calls"].as_array().unwrap();
    let named: Vec<_> = workers.iter().map(|worker| &worker["name"]).collect();
    assert_eq!(named, ["explain", "explain"]);
    let tool = &workers[1]["calls"][0];
    assert_eq!((&tool["status"], &tool["arguments"]), (&json!("failed"), &json!({ "word": "unknown" })));
    assert!(tool["error"].as_str().unwrap().contains("no such word"), "{tool}");
    assert_eq!(workers[0]["requests"].as_array().unwrap().len(), 2);
    let tokens = |figures: &Value| {
        [figures["requests"].clone(), figures["input_tokens"].clone(), figures["output_tokens"].clone()]
    };
    assert_eq!(tokens(&root["total"]), [json!(4), json!(400), json!(40)]);
    assert_eq!(tokens(&root["own"]), [json!(0), json!(0), json!(0)]);
    assert_eq!(tokens(&workers[0]["own"]), [json!(2), json!(200), json!(20)]);
    assert_eq!(tokens(&workers[0]["total"]), tokens(&workers[0]["own"]));
    let elapsed = |call: &Value| call["elapsed_ms"].as_u64().unwrap();
    assert!(elapsed(root) >= elapsed(&workers[0]) + elapsed(&workers[1]) && elapsed(&workers[0]) >= 1000, "{root}");
}

fn line(call: u64, second: u64, mut kind: Value) -> String {
    let parent = call.checked_sub(1);
    let event = json!({ "run": "r", "call": call, "parent": parent, "seq": 0, "depth": 0, "name": format!("call_{call}"),
        "time": format!("2026-07-28T12:00:{second:02}Z") });
    kind.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    format!("{kind}\n")
}

fn started() -> Value {
    json!({ "kind": "call_started", "what": "tool", "by": "code", "arguments": {} })
}

#[test]
fn waiting_is_apart_from_working_and_overlapping_waits_count_once() {
    let log = [
        line(0, 0, started()),
        line(1, 1, json!({ "kind": "approval_asked", "summary": "s", "arguments": {}, "position": 1, "total": 1 })),
        line(0, 2, json!({ "kind": "input_asked", "prompt": "?" })),
        line(1, 4, json!({ "kind": "approval_decided", "approved": true, "by": "approver", "rule": "effect", "scope": "call" })),
        line(1, 4, started()),
        line(1, 5, json!({ "kind": "model_waiting", "on": "a rate limit" })),
        line(0, 6, json!({ "kind": "input_answered", "answer": "yes" })),
        line(1, 8, json!({ "kind": "call_finished", "result": 1, "elapsed_ms": 4000 })),
        line(0, 10, json!({ "kind": "call_finished", "result": 1, "elapsed_ms": 10000 })),
    ]
    .concat();
    let root = &read(&log).to_json()["runs"][0];
    let times = |call: &Value| ["elapsed_ms", "waiting_ms", "working_ms"].map(|key| call[key].as_u64().unwrap());
    assert_eq!(times(&root["calls"][0]), [7000, 6000, 1000], "1 to 4 and 5 to 8");
    assert_eq!(times(root), [10000, 7000, 3000], "1 to 8");
    let decided = &root["calls"][0]["approvals"][0]["decided"];
    assert_eq!((&decided["by"], &decided["time"]), (&json!("approver"), &json!("2026-07-28T12:00:04Z")));
}

#[test]
fn many_waits_of_a_deep_call_are_counted_at_each_level_in_time() {
    const WAITS: u64 = 20_000;
    let at = |second: u64, event: Value| {
        let time = format!("T{:02}:{:02}:{:02}Z", 12 + second / 3600, second / 60 % 60, second % 60);
        line(255, 0, event).replace("T12:00:00Z", &time)
    };
    let asked = || json!({ "kind": "approval_asked", "summary": "s", "arguments": {}, "position": 1, "total": 1 });
    let decided =
        || json!({ "kind": "approval_decided", "approved": true, "by": "approver", "rule": "effect", "scope": "call" });
    let calls = (0..256).map(|call| line(call, 0, started()));
    let waits = (0..WAITS).flat_map(|n| [at(2 * n, asked()), at(2 * n + 1, decided())]);
    let log: String = calls.chain(waits).collect();
    let begun = Instant::now();
    let trace = read(&log).to_json();
    // Unoptimized, on a busy machine.
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    let mut call = &trace["runs"][0];
    for _ in 0..255 {
        assert_eq!(call["waiting_ms"], WAITS * 1000);
        call = &call["calls"][0];
    }
    assert_eq!(call["approvals"].as_array().unwrap().len() as u64, WAITS);
}

#[tokio::test]
async fn a_torn_last_line_is_left_out_and_another_fault_names_its_line() {
    let whole = log().await;
    let calls = |trace: &Trace| trace.to_json()["runs"][0]["calls"].as_array().unwrap().len();
    for cut in (whole.len() - 40)..whole.len() - 1 {
        let trace = read(&whole[..cut]);
        assert_eq!((trace.faults(), calls(&trace), &trace.to_json()["is_torn"]), (&[][..], 2, &json!(true)), "{cut}");
    }
    let mut lines: Vec<_> = whole.lines().collect();
    lines.insert(2, "{\"kind\":\"progress\",\"text\":7}");
    lines.insert(5, "what is this");
    lines.insert(6, "{\"kind\":\"of a later version\"}");
    let trace = read(&lines.join("\n"));
    let faults: Vec<_> = trace.faults().iter().map(ToString::to_string).collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].starts_with("line 3: invalid event: ") && faults[1].starts_with("line 6: invalid JSON"),
        "{faults:?}"
    );
    assert_eq!((calls(&trace), &trace.to_json()["skipped_events"]), (2, &json!(1)));
}

#[test]
fn a_log_of_several_runs_has_a_tree_for_each() {
    let one = |run: &str| line(0, 0, started()).replace("\"r\"", &format!("\"{run}\""));
    let trace = read(&(one("a") + &one("b"))).to_json();
    let runs: Vec<_> = trace["runs"].as_array().unwrap().iter().map(|run| &run["run"]).collect();
    assert_eq!(runs, ["a", "b"]);
}

#[test]
fn a_log_of_any_depth_is_read_and_printed() {
    let log: String = (0..50_000).map(|call| line(call, 0, started())).collect();
    let mut call = &read(&log).to_json()["runs"][0];
    let mut levels = 0;
    while let Some(below) = call["calls"].get(0) {
        (call, levels) = (below, levels + 1);
    }
    assert_eq!(levels, 256, "deeper calls are beside each other");
}

#[tokio::test]
async fn a_line_without_an_end_is_a_fault_and_ends_the_log() {
    let whole = log().await;
    let endless = BufReader::new(whole.as_bytes().chain(io::repeat(b'x')));
    let trace = Trace::read(endless).unwrap();
    let lines = whole.lines().count();
    let fault = format!("line {}: it has more than 64 MiB, so neither it nor what follows is read", lines + 1);
    assert_eq!(trace.faults().iter().map(ToString::to_string).collect::<Vec<_>>(), [fault]);
    assert_eq!(trace.to_json()["runs"].as_array().unwrap().len(), 1);

    let mut page = Vec::new();
    let endless = BufReader::new(whole.as_bytes().chain(io::repeat(b'x')));
    llm_do::trace::write_page(endless, &mut page).unwrap();
    assert!(page.len() < 10 << 20, "{}", page.len());
}
