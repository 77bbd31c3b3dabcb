//! Ten thousand calls on one runtime: memory does not grow, and every call finishes.

use std::time::Duration;

use allocation_counter::{AllocationInfo, measure};
use futures_util::future::{join_all, try_join_all};
use llm_do::approval::{ApprovalMode, Decision};
use llm_do::journal::MemoryJournal;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use serde_json::json;
use tokio::task::JoinSet;

/// Number of calls in `chain { length: LENGTH }`, nested calls included; one more if a worker is among them.
const LENGTH: u32 = 10;

/// Calls itself `length` times; half of the chains also call a worker.
#[tool(effect = read_only)]
async fn chain(ctx: &CallContext, number: u32, length: u32) -> Result<u32> {
    tokio::task::yield_now().await;
    match length {
        // The worker's own call, and the one that its model makes.
        4 if number.is_multiple_of(2) => Ok(ctx.call(ask_one { number }).await?.len().try_into()?),
        1 => Ok(number),
        _ => Ok(ctx.call(chain { number, length: length - 1 }).await?),
    }
}

/// Ask a model, which calls a chain.
#[worker(toolsets = [chain])]
async fn ask_one(number: u32) -> String;

/// Think for a moment, off the async threads, if the approver wants it.
#[tool(effect = destructive)]
fn think(number: u32) -> u32 {
    std::hint::black_box(number)
}

/// Runs waves of concurrent chains; returns the number of chains.
#[entry(toolsets = [chain])]
async fn waves(ctx: &CallContext<waves>, waves: u32, width: u32) -> Result<u32> {
    for wave in 0..waves {
        let chains = (0..width).map(|n| ctx.call(chain { number: wave * width + n, length: LENGTH }));
        try_join_all(chains).await?;
    }
    Ok(waves * width)
}

/// Runs all chains concurrently, each in its own task, together with `think`.
#[entry]
async fn flood(ctx: &CallContext, chains: u32) -> Result<u32> {
    let mut tasks = JoinSet::new();
    for number in 0..chains {
        let ctx = ctx.clone();
        tasks.spawn(async move {
            let (chained, thought) =
                futures_util::join!(ctx.call(chain { number, length: LENGTH }), ctx.call(think { number }));
            Ok::<_, CallError>((chained?, thought?))
        });
    }
    let mut finished = 0;
    for result in tasks.join_all().await {
        result?;
        finished += 1;
    }
    Ok(finished)
}

/// A model that calls a chain of length three, and then answers `done`.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let part = if let Some(Message::Tool { .. }) = request.messages.last() {
            ResponsePart::Text { text: "done".to_owned() }
        } else {
            let arguments = json!({ "number": 1, "length": 3 }).to_string();
            ResponsePart::ToolCall(ToolCall::new("1", "chain", arguments))
        };
        Ok(Response::new("m", vec![part], Usage::of_request(1, 1)))
    })
}

fn builder() -> RuntimeBuilder {
    Runtime::builder().force_model(model())
}

/// Measures the allocations of this many waves on a warm runtime; all work runs on this thread.
fn allocated(runtime: &Runtime, waves_: u32) -> AllocationInfo {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |times| tokio.block_on(runtime.run(waves { waves: times, width: 20 })).unwrap();
    run(5);
    measure(|| {
        run(waves_);
    })
}

#[test]
fn ten_thousand_calls_take_no_more_memory_than_two_hundred() {
    let runtime = builder().build().unwrap();
    let few = allocated(&runtime, 1);
    let many = allocated(&runtime, 50);
    // Only one wave is live at a time, and the runtime keeps nothing per run.
    assert!(many.bytes_max <= few.bytes_max + 16 * 1024, "{} and {}", few.bytes_max, many.bytes_max);
    assert!(many.bytes_current <= 1024, "{} bytes are left", many.bytes_current);
    assert!(many.count_total > 40 * few.count_total, "{few:?} {many:?}");
}

#[test]
fn runs_leave_nothing_behind() {
    let runtime = builder().build().unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = || tokio.block_on(runtime.run(chain { number: 2, length: LENGTH })).unwrap();
    run();
    let left = measure(|| {
        for _ in 0..1_000 {
            run();
        }
    });
    assert!(left.bytes_current <= 1024, "{} bytes are left", left.bytes_current);
}

/// Floods a session with 11,500 calls: 1,000 tasks, each with a chain of 10 or 11 calls and one call of `think`.
/// An approver decides on the calls of `think` one at a time.
async fn assert_a_flood_finishes(builder: RuntimeBuilder) {
    let builder = builder.approve_with(|_| async {
        tokio::task::yield_now().await;
        Decision::approve()
    });
    let runtime = builder.build().unwrap();
    let start = runtime.start(flood { chains: 1_000 });
    let handle = start.handle();
    let finished = tokio::time::timeout(Duration::from_secs(120), std::future::IntoFuture::into_future(start)).await;
    assert_eq!(finished.expect("the flood finishes").unwrap(), 1_000);
    let used = handle.usage();
    assert_eq!((used.tool_calls, used.model.requests), (11_500, 1_000));
    assert_eq!(handle.usage_tree().total(), used);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_calls_finishes() {
    assert_a_flood_finishes(builder()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_recorded_calls_finishes() {
    let journal = MemoryJournal::new();
    assert_a_flood_finishes(builder().journal(journal.clone())).await;
    // Every call, request and approval, the begin of every call that was approved, the run and its result.
    assert_eq!(journal.records().len(), 11_500 + 1_000 + 1_000 + 1_000 + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_concurrent_runs_finish() {
    let runtime = builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    let runs = (0..500).map(|_| {
        let runtime = runtime.clone();
        tokio::spawn(async move { runtime.run(waves { waves: 1, width: 2 }).await })
    });
    let results = tokio::time::timeout(Duration::from_secs(120), join_all(runs)).await;
    assert!(results.expect("the runs finish").into_iter().all(|result| result.unwrap().unwrap() == 2));
}
