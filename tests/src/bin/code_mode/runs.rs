//! Runs of code with a journal, with an approver and from a worker file, and runs that are stopped.
//!
//! Each command takes pieces of code, one a turn, and prints lines of JSON.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision};
use llm_do::error::chain;
use llm_do::journal::{MemoryJournal, Record, StepKind};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::Recorder;
use llm_do::{Value, json};
use tokio::sync::Barrier;

use super::{CLOSED, Turn, close_ticket, list_tickets, model, read_ticket, turns};

/// How many calls of `meet` wait for one another.
static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(3));
/// The number of calls of `write_down` that are in flight.
static IN_FLIGHT: AtomicU32 = AtomicU32::new(0);

/// Wait for two other calls.
#[tool(effect = read_only, timeout = Duration::from_secs(20))]
async fn meet(id: u32) -> u32 {
    MEETING.wait().await;
    id
}

/// Write something down; return how many calls write.
#[tool(effect = idempotent)]
async fn write_down(id: u32) -> u32 {
    let _ = id;
    let writing = IN_FLIGHT.fetch_add(1, Ordering::SeqCst) + 1;
    tokio::time::sleep(Duration::from_millis(5)).await;
    IN_FLIGHT.fetch_sub(1, Ordering::SeqCst);
    writing
}

/// Work concurrently.
#[worker(toolsets = [meet, write_down], code = true, retries = 9)]
async fn by_concurrent_code(input: String) -> String;

/// Work in Rust.
#[entry(toolsets = [list_tickets, read_ticket, close_ticket])]
async fn by_rust(ctx: &CallContext<by_rust>, input: String) -> Result<String> {
    let _ = input;
    ctx.call(list_tickets {}).await?;
    ctx.call(read_ticket { id: 2 }).await?;
    // Errors are handled.
    drop(ctx.call(read_ticket { id: 9 }).await);
    drop(ctx.call(close_ticket { id: 1, reason: "old".to_owned() }).await);
    Ok("done".to_owned())
}

/// The same calls as those of `by_rust`.
const SAME: &str = "
list_tickets()
read_ticket(2)
try:
    read_ticket(9)
except KeyError:
    pass
try:
    close_ticket(1, 'old')
except PermissionError:
    pass
";

pub(crate) async fn run(command: &str, code: impl Iterator<Item = String>) {
    match command {
        "concurrent" => print(&result("by_concurrent_code", approving(turns(code))).await),
        "asked" => asked(turns(code)).await,
        "journaled" => journaled(&turns(code)).await,
        "unknown" => unknown(&turns(code)).await,
        "dry" => dry(turns(code)).await,
        "stopped" => stopped(code).await,
        "parity" => parity().await,
        "file" => file(code).await,
        _ => panic!("unknown command `{command}`"),
    }
}

fn print(value: &Value) {
    println!("{value}");
}

fn builder(turns: Vec<Turn>) -> RuntimeBuilder {
    Runtime::builder().force_model(model(turns, Arc::default()))
}

fn approving(turns: Vec<Turn>) -> RuntimeBuilder {
    builder(turns).approval_mode(ApprovalMode::ApproveAll).on_unknown(llm_do::OnUnknown::Rerun)
}

/// Returns what the worker's model saw of its code, or the error of the run.
async fn result(worker: &str, builder: RuntimeBuilder) -> Value {
    let runtime = match builder.build() {
        Ok(runtime) => runtime,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let result = runtime.run_named(worker, json!({ "input": "go" })).await;
    result.unwrap_or_else(|error| json!({ "error": chain(&error) }))
}

/// Prints each request to an approver, who denies even tickets, edits the third and stops at the ninth, and then the result.
async fn asked(turns: Vec<Turn>) {
    let decide = |request: ApprovalRequest| async move {
        print(&json!({ "tool": &*request.tool, "arguments": &request.arguments }));
        match request.arguments["id"].as_u64() {
            Some(3) => Decision::approve_with(json!({ "id": 5, "reason": "edited" })),
            Some(9) => Decision::deny_and_stop("enough"),
            Some(id) if id % 2 == 0 => Decision::deny("not this one"),
            _ => Decision::approve(),
        }
    };
    let builder = builder(turns).approval_mode(ApprovalMode::Prompt).approve_with(decide);
    print(&result("by_code", builder).await);
    print(&json!(closed()));
}

/// Prints the result of a dry run, its plan, and what was closed.
async fn dry(turns: Vec<Turn>) {
    let runtime = builder(turns).build().unwrap();
    let start = runtime.start_named("by_code", json!({ "input": "go" })).dry_run();
    let handle = start.handle();
    print(&start.await.unwrap());
    print(&json!(handle.plan()));
    print(&json!(closed()));
}

/// Takes the tickets that were closed.
fn closed() -> Vec<u32> {
    std::mem::take(&mut *CLOSED.lock().unwrap())
}

/// Runs the code with a journal, and again with each beginning of its records, as after a kill; prints how many records were kept,
/// how many of them are those of closed tickets, the result, and what was closed.
async fn journaled(turns: &[Turn]) {
    let whole = MemoryJournal::new();
    let first = result("by_code", approving(turns.to_vec()).journal(whole.clone())).await;
    print(&json!([null, null, first, closed()]));
    let records = whole.records();
    for kept in 0..=records.len() {
        let known = records[..kept].to_vec();
        let known_closed =
            known.iter().filter(|record| &*record.name == "close_ticket" && record.kind == StepKind::Tool).count();
        let journal = MemoryJournal::from_records(known);
        let again = result("by_code", approving(turns.to_vec()).journal(journal)).await;
        print(&json!([kept, known_closed, again, closed()]));
    }
}

/// Runs the code with a journal, and again as after a kill in its first call of `close_ticket`: with a person who answers that it has happened, and
/// without. Prints the results, and what was closed.
async fn unknown(turns: &[Turn]) {
    let journaled =
        |journal: MemoryJournal| builder(turns.to_vec()).approval_mode(ApprovalMode::ApproveAll).journal(journal);
    let whole = MemoryJournal::new();
    let first = result("by_code", journaled(whole.clone())).await;
    print(&json!([first, closed()]));
    let records = whole.records();
    let is_begun = |record: &Record| record.kind == StepKind::Begun && &*record.name == "close_ticket";
    let begun = records.iter().position(is_begun).unwrap();
    let died = || journaled(MemoryJournal::from_records(records[..=begun].iter().cloned()));
    let attended = died().approve_with(|request: ApprovalRequest| async move {
        if request.began.is_some() { Decision::happened(false) } else { Decision::deny("not asked") }
    });
    for builder in [attended, died()] {
        let again = result("by_code", builder).await;
        print(&json!([again, closed()]));
    }
}

/// Runs code that does not end, and stops it by `cancel` or by a `deadline`; prints how long that took and how many processes
/// of interpreters are left.
async fn stopped(mut arguments: impl Iterator<Item = String>) {
    let by = arguments.next().unwrap();
    let builder = approving(turns(arguments));
    let builder = if by == "deadline" { builder.timeout("by_code", Duration::from_secs(4)) } else { builder };
    let runtime = builder.build().unwrap();
    let start = runtime.start_named("by_code", json!({ "input": "go" }));
    let handle = start.handle();
    let mut began = Instant::now();
    let run = tokio::spawn(async move { start.await });
    let mut before = 0;
    if by == "cancel" {
        while CLOSED.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        before = interpreters();
        began = Instant::now();
        handle.cancel();
    }
    let error = run.await.unwrap().unwrap_err();
    let elapsed = began.elapsed();
    while interpreters() > 0 && began.elapsed() < elapsed + Duration::from_secs(2) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let [milliseconds, gone] = [elapsed, began.elapsed()].map(|time| u64::try_from(time.as_millis()).unwrap());
    print(
        &json!({ "before": before, "after": interpreters(), "elapsed": milliseconds, "gone": gone, "error": chain(&error) }),
    );
}

/// Returns the number of processes that this one has started and that run.
fn interpreters() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().map(|thread| thread.unwrap().path().join("children"));
    let children = threads.filter_map(|file| fs::read_to_string(file).ok()).collect::<Vec<_>>().join(" ");
    let runs = |id: &&str| {
        let status = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        status.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    children.split_whitespace().filter(runs).count()
}

/// Prints what the same calls leave behind by code and by Rust.
async fn parity() {
    for mode in [ApprovalMode::ApproveAll, ApprovalMode::RejectAll] {
        let [code, rust] = [trace("by_code", mode).await, trace("by_rust", mode).await];
        print(&json!([code, rust]));
    }
}

/// Returns the events and the records of the calls.
async fn trace(item: &str, mode: ApprovalMode) -> Value {
    let (recorder, journal) = (Recorder::new(), MemoryJournal::new());
    let builder = builder(turns([SAME.to_owned()].into_iter())).approval_mode(mode);
    result(item, builder.sink(recorder.clone()).journal(journal.clone())).await;
    let tools = ["list_tickets", "read_ticket", "close_ticket"];
    let events = recorder.events().into_iter().filter(|event| tools.contains(&&*event.name)).map(|event| {
        let mut kind = serde_json::to_value(&event.kind).unwrap();
        for field in ["by", "elapsed_ms", "position", "total"] {
            kind.as_object_mut().unwrap().remove(field);
        }
        json!([&*event.name, kind])
    });
    let events: Vec<_> = events.collect();
    let records = journal.records().into_iter().filter(|record| tools.contains(&&*record.name));
    // When a call began differs.
    let value = |record: &Record| Some(record.value.clone()).filter(|_| record.kind != StepKind::Begun);
    let records: Vec<_> =
        records.map(|record| json!([record.name, record.kind, record.input, value(&record)])).collect();
    json!([events, records])
}

/// Runs the worker `by_file` of a folder with worker files.
async fn file(mut arguments: impl Iterator<Item = String>) {
    let folder = arguments.next().unwrap();
    print(&result("by_file", approving(turns(arguments)).worker_dir(folder)).await);
}
