//! Ten thousand calls on one runtime: nothing piles up, and nobody waits for ever.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

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

/// How many calls `chain { length: LENGTH }` is with all below it, or one more where a worker is among them.
const LENGTH: u32 = 10;

/// Calls itself until it is at its end, where half of the calls ask a worker.
#[tool(effect = read_only)]
async fn chain(ctx: &CallContext, number: u32, length: u32) -> Result<u32> {
    tokio::task::yield_now().await;
    match length {
        // The worker's own call, and the one that its model makes.
        4 if number.is_multiple_of(2) => Ok(ctx.call(ask { number }).await?.len().try_into()?),
        1 => Ok(number),
        _ => Ok(ctx.call(chain { number, length: length - 1 }).await?),
    }
}

/// Ask a model, which calls a chain.
#[worker(toolsets = [chain])]
async fn ask(number: u32) -> String;

/// Think for a moment, off the async threads, if the approver wants it.
#[tool(effect = destructive)]
fn think(number: u32) -> u32 {
    std::hint::black_box(number)
}

/// Makes chains at once, again and again; returns how many.
#[entry(toolsets = [chain])]
async fn waves(ctx: &CallContext<waves>, waves: u32, width: u32) -> Result<u32> {
    for wave in 0..waves {
        let chains = (0..width).map(|n| ctx.call(chain { number: wave * width + n, length: LENGTH }));
        try_join_all(chains).await?;
    }
    Ok(waves * width)
}

/// Makes all chains at once, each in a task of its own, and thinks meanwhile.
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
    let mut made = 0;
    for ended in tasks.join_all().await {
        ended?;
        made += 1;
    }
    Ok(made)
}

/// A model that calls a chain of three, and then says so.
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

/// What this thread allocates for so many waves, on a runtime that has run before. No other thread takes part.
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
    // What is live at once is one wave; what is left is what the runtime keeps of any number of runs.
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

/// Floods a session with 11,500 calls: a chain of 10 or 11 and a thought for each of 1,000 tasks. One approver, who takes
/// one question at a time, is asked about the thoughts.
async fn no_one_waits_for_ever(builder: RuntimeBuilder) {
    let asked = builder.approve_with(|_| async {
        tokio::task::yield_now().await;
        Decision::approve()
    });
    let runtime = asked.build().unwrap();
    let start = runtime.start(flood { chains: 1_000 });
    let handle = start.handle();
    let made = tokio::time::timeout(Duration::from_secs(120), std::future::IntoFuture::into_future(start)).await;
    assert_eq!(made.expect("a flood that ends").unwrap(), 1_000);
    let used = handle.usage();
    assert_eq!((used.tool_calls, used.model.requests), (11_500, 1_000));
    assert_eq!(handle.usage_tree().total(), used);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_calls_ends() {
    no_one_waits_for_ever(builder()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_calls_ends_that_are_all_recorded() {
    let journal = MemoryJournal::new();
    no_one_waits_for_ever(builder().journal(journal.clone())).await;
    // Each call, each request and each approval, and the run with its result.
    assert_eq!(journal.records().len(), 11_500 + 1_000 + 1_000 + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_at_once_end() {
    let runtime = builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    let runs = (0..500).map(|_| {
        let runtime = runtime.clone();
        tokio::spawn(async move { runtime.run(waves { waves: 1, width: 2 }).await })
    });
    let ended = tokio::time::timeout(Duration::from_secs(120), join_all(runs)).await;
    assert!(ended.expect("runs that end").into_iter().all(|made| made.unwrap().unwrap() == 2));
}
