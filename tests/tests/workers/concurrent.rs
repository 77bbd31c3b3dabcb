//! Workers that only read run together, if one answer of a model calls several: how long they take, their order, events, usage, limits
//! and records are those of calls in order.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::event::{Event, EventKind};
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::{Usage, UsageTree};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Limits, Value, json};

/// Wait for some milliseconds.
#[tool(effect = read_only)]
async fn nap(ms: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

/// Wait for some milliseconds, and note it.
#[tool(effect = idempotent)]
async fn nap_noted(ms: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

/// Nap once.
#[worker(toolsets = [nap])]
async fn napper(ms: u64) -> String;

/// Nap once, and note it.
#[worker(toolsets = [nap_noted])]
async fn noter(ms: u64) -> String;

/// Have other workers nap.
#[worker(toolsets = [napper, noter, nap])]
async fn warden(input: String) -> String;

/// The calls of the warden's first answer: the names, and the milliseconds.
type Calls = &'static [(&'static str, u64)];

const FIVE: Calls = &[("napper", 200); 5];

/// A model by which the warden makes `calls` in one answer, and each other worker naps as its prompt states. Each returns the results.
fn model(calls: Calls, asked: Arc<AtomicUsize>) -> FunctionModel {
    let call =
        |n: usize, name: &str, arguments: String| ResponsePart::ToolCall(ToolCall::new(n.to_string(), name, arguments));
    FunctionModel::new(move |request: Request<'_>| {
        asked.fetch_add(1, Ordering::Relaxed);
        let parts = match (request.messages.last(), &*request.tools[0].name) {
            (Some(Message::Tool { results }), _) => {
                let texts: Vec<_> = results.iter().map(|result| result.content.as_str()).collect();
                vec![ResponsePart::Text { text: texts.join(", ") }]
            }
            (_, tool @ ("nap" | "nap_noted")) if request.tools.len() == 1 => vec![call(0, tool, request.prompt())],
            _ => {
                let calls = calls.iter().enumerate();
                calls.map(|(n, &(name, ms))| call(n, name, arguments(name, ms).to_string())).collect()
            }
        };
        Ok(Response::new("m", parts, Usage::of_request(10, 1)))
    })
}

/// A worker of a file takes a prompt, which is the arguments of its tool.
fn arguments(name: &str, ms: u64) -> Value {
    let arguments = json!({ "ms": ms });
    if name.starts_with("filed") { json!({ "input": arguments.to_string() }) } else { arguments }
}

fn builder(calls: Calls) -> RuntimeBuilder {
    let builder = Runtime::builder().approval_mode(ApprovalMode::ApproveAll);
    builder.force_model(model(calls, Arc::default()))
}

fn go() -> warden {
    warden { input: "Go.".into() }
}

fn at_most(calls: usize) -> NonZeroUsize {
    NonZeroUsize::new(calls).unwrap()
}

/// Runs a worker; returns the tenths of seconds that it took, and its answer.
async fn timed(builder: RuntimeBuilder, worker: &str) -> (u128, String) {
    let runtime = builder.build().unwrap();
    let begun = tokio::time::Instant::now();
    let answer = runtime.run_named(worker, json!({ "input": "Go." })).await.unwrap();
    (begun.elapsed().as_millis() / 100, answer.as_str().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn five_workers_that_only_read_take_the_time_of_one() {
    assert_eq!(timed(builder(FIVE), "warden").await, (2, ["200"; 5].join(", ")));
}

#[tokio::test(start_paused = true)]
async fn the_number_of_calls_that_run_together_is_limited() {
    for (limit, tenths) in [(1, 10), (2, 6), (4, 4), (5, 2), (99, 2)] {
        let builder = builder(FIVE).max_concurrent_calls(at_most(limit));
        assert_eq!(timed(builder, "warden").await.0, tenths, "at most {limit}");
    }
    let seventeen = builder(&[("napper", 100); 17]);
    assert_eq!(timed(seventeen, "warden").await.0, 2, "16 by default");
}

#[tokio::test(start_paused = true)]
async fn calls_run_in_order_if_a_call_may_change_something() {
    let noted: Calls = &[("noter", 200), ("noter", 200)];
    let mixed: Calls = &[("napper", 200), ("noter", 200), ("napper", 200)];
    let reading: Calls = &[("napper", 200), ("nap", 200), ("napper", 200)];
    for (calls, tenths) in [(noted, 4), (mixed, 6), (reading, 2)] {
        assert_eq!(timed(builder(calls), "warden").await.0, tenths, "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_are_in_the_order_of_the_calls() {
    let recorder = Recorder::new();
    let calls = &[("napper", 50), ("napper", 40), ("napper", 30), ("napper", 20), ("napper", 10)];
    let (tenths, answer) = timed(builder(calls).sink(recorder.clone()), "warden").await;
    assert_eq!((tenths, answer.as_str()), (0, "50, 40, 30, 20, 10"));
    let ended = |event: Event| match event.kind {
        EventKind::CallFinished { .. } if &*event.name == "napper" => Some(event.call),
        _ => None,
    };
    let ended: Vec<_> = recorder.events().into_iter().filter_map(ended).collect();
    assert!(ended.is_sorted_by(|one, other| one > other), "the last call ends first: {ended:?}");
}

/// Runs the warden; returns its answer, the usage by call, and the events without their order, ids and times.
async fn observed(builder: RuntimeBuilder) -> (String, UsageTree, Vec<String>) {
    let recorder = Recorder::new();
    let start = builder.sink(recorder.clone()).build().unwrap().start(go());
    let handle = start.handle();
    let answer = start.await.unwrap();
    let events = recorder.events();
    let name = |call: Option<u64>| {
        call.and_then(|call| events.iter().find(|event| event.call == call)).map(|event| &event.name)
    };
    let texts = events.iter().map(|event| {
        let kind = match &event.kind {
            // How much was used so far depends on the order.
            EventKind::Usage { .. } => "usage".to_owned(),
            EventKind::CallFinished { outcome, .. } => format!("{outcome:?}"),
            kind => format!("{kind:?}"),
        };
        format!("{:?} of {:?} at {}: {kind}", event.name, name(event.parent), event.depth)
    });
    let mut texts: Vec<_> = texts.collect();
    texts.sort();
    (answer, handle.usage_tree(), texts)
}

#[tokio::test(start_paused = true)]
async fn events_and_usage_are_those_of_calls_in_order() {
    let calls = &[("napper", 50), ("napper", 20), ("nap", 10), ("napper", 20)];
    let together = observed(builder(calls)).await;
    let in_order = observed(builder(calls).max_concurrent_calls(at_most(1))).await;
    assert_eq!(together, in_order);
    let total = together.1.total();
    assert_eq!((total.model.requests, total.tool_calls, total.model.input_tokens), (8, 7, 80));
}

#[tokio::test(start_paused = true)]
async fn limits_hold_for_calls_that_run_together() {
    let of = |used: &llm_do::usage::RunUsage| (used.model.requests, used.tool_calls);
    for (limits, requests, calls) in [(Limits::new().requests(4), 4, 8), (Limits::new().tool_calls(3), 12, 3)] {
        let start = builder(FIVE).limits(limits).build().unwrap().start(go());
        let handle = start.handle();
        let error = chain(&start.await.unwrap_err());
        let used = of(&handle.usage());
        assert!(error.contains("limit"), "{error}");
        assert!(used.0 <= requests && used.1 <= calls, "{used:?}, and not {requests} and {calls}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn workers_that_finished_keep_their_answers_if_the_run_is_out_of_time() {
    let (recorder, limits) = (Recorder::new(), Limits::new().wall_time(Duration::from_millis(100)));
    let calls = &[("napper", 300), ("napper", 10)];
    let start = builder(calls).sink(recorder.clone()).limits(limits).build().unwrap().start(go());
    let handle = start.handle();
    assert!(start.await.unwrap_err().is_timeout());
    let history = handle.history();
    let Some(Message::Tool { results }) = history.messages().last() else { panic!("{history:?}") };
    let results: Vec<_> = results.iter().map(|result| (result.content.as_str(), result.is_error)).collect();
    assert_eq!(results, [("not finished: the conversation was interrupted", true), ("10", false)]);
    let count = |is: fn(&EventKind) -> bool| recorder.kinds().iter().filter(|kind| is(kind)).count();
    let started = count(|kind| matches!(kind, EventKind::CallStarted { .. }));
    assert_eq!((started, count(|kind| matches!(kind, EventKind::CallFinished { .. }))), (5, 5));
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_at_any_record_is_resumed_without_asking_again() {
    let calls = &[("napper", 30), ("napper", 20), ("napper", 20)];
    // Another process may have another limit.
    for (before, after) in [(16, 16), (16, 1), (1, 16)] {
        let journal = MemoryJournal::new();
        let first = builder(calls).max_concurrent_calls(at_most(before)).journal(journal.clone()).build().unwrap();
        assert_eq!(first.run(go()).await.unwrap(), "30, 20, 20");
        let records = journal.records();
        let requests = |cut: usize| records[..cut].iter().filter(|record| record.kind == StepKind::Model).count();
        assert_eq!(requests(records.len()), 8, "two of each worker");
        for cut in 0..=records.len() {
            let asked = Arc::new(AtomicUsize::new(0));
            let kept = MemoryJournal::from_records(records[..cut].iter().cloned());
            let resumed = builder(calls).force_model(model(calls, Arc::clone(&asked))).journal(kept);
            let resumed = resumed.max_concurrent_calls(at_most(after)).build().unwrap();
            let what = format!("after {cut} records, at most {before} and then {after} calls");
            assert_eq!(resumed.run(go()).await.unwrap(), "30, 20, 20", "{what}");
            assert_eq!(asked.load(Ordering::Relaxed), 8 - requests(cut), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn workers_of_files_and_of_the_program_run_together_too() {
    let folder = tempfile::tempdir().unwrap();
    let filed = "---\nname: filed_napper\ntools: [nap]\n---\nNap.\n";
    std::fs::write(folder.path().join("filed_napper.worker"), filed).unwrap();
    let calls = &[("filed_napper", 200), ("napper", 200), ("filed_napper", 200)];
    let with_files = |tools: &[&str]| {
        let warden = WorkerSpec::new("added_warden", "Have other workers nap.").toolsets(tools.iter().copied());
        builder(calls).worker_dir(folder.path()).worker(warden)
    };
    assert_eq!(timed(with_files(&["filed_napper", "napper"]), "added_warden").await.0, 2);

    let narrowed = "---\nname: filed_napper\ntools: [nap_noted]\neffect: read_only\neffect_reason: the note is for people\n---\nNap.\n";
    let noting = narrowed.lines().filter(|line| !line.starts_with("effect")).collect::<Vec<_>>().join("\n");
    for (file, tenths) in [(narrowed, 2), (noting.as_str(), 6)] {
        std::fs::write(folder.path().join("filed_napper.worker"), file).unwrap();
        assert_eq!(timed(with_files(&["filed_napper", "napper"]), "added_warden").await.0, tenths, "{file}");
    }
}

#[tokio::test(start_paused = true)]
async fn under_another_run_the_smaller_limit_holds() {
    for (outer, inner, tenths) in [(1, 16, 10), (16, 1, 10), (16, 16, 2)] {
        let library = builder(FIVE).max_concurrent_calls(at_most(inner)).build().unwrap();
        let schema = json!({ "type": "object" });
        let bridge = FunctionTool::new("bridge", "Cross over.", schema, Effect::ReadOnly, move |ctx, _: Value| {
            let library = library.clone();
            async move { Ok(library.run_under(&ctx, go()).await?) }
        });
        let builder = Runtime::builder().only([""; 0]).tool(bridge).max_concurrent_calls(at_most(outer));
        assert_eq!(timed(builder, "bridge").await.0, tenths, "{outer} around {inner}");
    }
}
