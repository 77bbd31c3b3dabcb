//! Workers that are nested as deep as the limit allows, on the stack of a usual thread.

use std::time::Duration;

use llm_do::approval::ApprovalMode;
use llm_do::context::CancellationToken;
use llm_do::error::chain;
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Answer, FunctionModel, Recorder};
use llm_do::{Value, json};

/// Dig, and have another worker dig deeper.
#[worker(instructions = "Dig.", toolsets = [pass_on, rest, hang_here])]
async fn miner(level: u32) -> String;

/// Have another worker dig.
#[tool(effect = read_only)]
async fn pass_on(ctx: &CallContext, level: u32) -> Result<String> {
    Ok(ctx.call(miner { level }).await?)
}

/// Rest for a moment.
#[tool(effect = read_only)]
async fn rest(ctx: &CallContext) -> Result<String> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    let apart = tokio::spawn(async { "rested" }).await?;
    Ok(format!("{apart} at {}", ctx.depth()))
}

/// Wait until the run is cancelled.
#[tool(effect = read_only)]
async fn hang_here(ctx: &CallContext) {
    ctx.progress("hanging");
    std::future::pending::<()>().await;
}

/// A model that digs down to `bottom`, and calls a tool there.
fn builder(bottom: u64, last: &'static str) -> RuntimeBuilder {
    let model = FunctionModel::answering(move |request| {
        if let Some(result) = request.results("pass_on").chain(request.results(last)).next() {
            return Answer::text(result.content.as_str());
        }
        let given: Value = serde_json::from_str(&request.prompt()).unwrap_or_default();
        match given["level"].as_u64().unwrap_or_default() {
            level if level < bottom => Answer::call("pass_on", json!({ "level": level + 1 })),
            _ => Answer::call(last, json!({})),
        }
    });
    let builder = Runtime::builder().only(["miner"]).max_depth(100).approval_mode(ApprovalMode::ApproveAll);
    builder.force_model(model)
}

fn top() -> miner {
    miner { level: 1 }
}

#[tokio::test]
async fn a_hundred_workers_with_a_tool_between_them_finish() {
    let recorder = Recorder::new();
    let runtime = builder(100, "rest").sink(recorder.clone()).build().unwrap();
    let start = runtime.start(top());
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "rested at 100");
    assert_eq!((handle.usage().model.requests, handle.usage().tool_calls), (200, 199));
    assert_eq!(handle.usage_tree().total(), handle.usage());
    let events = recorder.events();
    assert_eq!(events.iter().map(|event| event.depth).max(), Some(100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn they_finish_on_the_threads_of_a_server_too() {
    let runtime = builder(100, "rest").build().unwrap();
    let runs: Vec<_> = (0..4).map(|_| tokio::spawn(runtime.start(top()).into_future())).collect();
    for run in runs {
        assert_eq!(run.await.unwrap().unwrap(), "rested at 100");
    }
}

#[tokio::test]
async fn a_worker_beyond_the_hundredth_is_refused() {
    let error = builder(101, "rest").build().unwrap().run(top()).await.unwrap_err();
    let refused = "`pass_on` at depth 100 may not call the worker `miner`: the maximum depth is 100; raise `max_depth`";
    assert!(chain(&error).ends_with(refused), "{}", chain(&error));
}

#[tokio::test]
async fn calls_of_any_kind_are_nested_at_most_300_deep() {
    let error = builder(1_000, "rest").max_depth(1_000).build().unwrap().run(top()).await.unwrap_err();
    assert!(chain(&error).contains("call nesting limit 300 reached at"), "{}", chain(&error));
}

#[tokio::test]
async fn deep_runs_are_recorded_and_resumed() {
    let whole = MemoryJournal::new();
    let first = builder(100, "rest").journal(whole.clone()).build().unwrap().run(top()).await.unwrap();
    let records = whole.records();
    for part in [records.len() / 2, records.len() - 1, records.len()] {
        let rest = MemoryJournal::from_records(records.iter().take(part).cloned());
        // As a file would store them.
        for record in rest.records() {
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<llm_do::journal::Record>(&text).unwrap(), record);
        }
        let runtime = builder(100, "rest").journal(rest).build().unwrap();
        let start = runtime.start(top());
        let handle = start.handle();
        assert_eq!(start.await.unwrap(), first, "after {part} records");
        assert_eq!((handle.usage().model.requests, handle.usage().tool_calls), (200, 199), "after {part} records");
    }
}

#[tokio::test]
async fn a_chat_of_deep_runs_is_saved_and_loaded() {
    let runtime = builder(100, "rest").build().unwrap();
    let mut chat = runtime.chat();
    chat.send(top()).await.unwrap();
    let state = chat.state();
    assert_eq!(state.usage.total().model.requests, 200);
    let saved = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<llm_do::runtime::ChatState>(&saved).unwrap(), state);
}

#[tokio::test]
async fn a_cancelled_deep_run_reports_each_call_as_finished() {
    let (recorder, token) = (Recorder::new(), CancellationToken::new());
    let runtime = builder(100, "hang_here").sink(recorder.clone()).cancellation(token.clone()).build().unwrap();
    let cancel = async {
        while !recorder.kinds().iter().any(|kind| matches!(kind, EventKind::Progress { .. })) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        token.cancel();
    };
    let (result, ()) = tokio::join!(runtime.run(top()), cancel);
    assert!(result.unwrap_err().is_cancelled());
    let kinds = recorder.kinds();
    let started = kinds.iter().filter(|kind| matches!(kind, EventKind::CallStarted { .. })).count();
    let finished = kinds.iter().filter(|kind| matches!(kind, EventKind::CallFinished { .. })).count();
    assert_eq!((started, finished), (200, 200));
}
