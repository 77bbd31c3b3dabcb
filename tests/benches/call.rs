//! What one call by name costs, among 100 tools; its allocations are counted in a test.
//!
//! A call inside a run, with arguments as JSON and a result as JSON: `add(i64, i64, Option<String>)`. Beside it the least
//! that is written by hand: a lookup in a `HashMap`, `serde_json`, and the function; and for a function off the async threads, the way there
//! and back.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::collections::HashMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use llm_do::prelude::*;
use serde_json::{Value, json};

/// Registers a hundred tools of the kind that is measured.
macro_rules! hundred {
    ($($name:ident)*) => {$(
        /// Add two numbers.
        #[tool(effect = read_only, inline)]
        fn $name(left: i64, right: i64, label: Option<String>) -> i64 {
            black_box(label);
            left + right
        }
    )*};
}

hundred! {
    add00 add01 add02 add03 add04 add05 add06 add07 add08 add09 add10 add11 add12 add13 add14 add15 add16 add17 add18
    add19 add20 add21 add22 add23 add24 add25 add26 add27 add28 add29 add30 add31 add32 add33 add34 add35 add36 add37
    add38 add39 add40 add41 add42 add43 add44 add45 add46 add47 add48 add49 add50 add51 add52 add53 add54 add55 add56
    add57 add58 add59 add60 add61 add62 add63 add64 add65 add66 add67 add68 add69 add70 add71 add72 add73 add74 add75
    add76 add77 add78 add79 add80 add81 add82 add83 add84 add85 add86 add87 add88 add89 add90 add91 add92 add93 add94
    add95 add96 add97
}

/// Add two numbers.
#[tool(effect = read_only)]
async fn add_async(left: i64, right: i64, label: Option<String>) -> i64 {
    black_box(label);
    left + right
}

/// Add two numbers off the async threads.
#[tool(effect = read_only)]
fn add_blocking(left: i64, right: i64, label: Option<String>) -> i64 {
    black_box(label);
    left + right
}

/// How many calls have their arguments made at a time: few enough that they are still in the cache, as those of a request
/// that was just read are, and enough that the clock does not show.
const BATCH: u64 = 64;

/// Returns how many calls each batch has.
fn batches(times: u64) -> impl Iterator<Item = u64> {
    (0..times.div_ceil(BATCH)).map(move |done| BATCH.min(times - done * BATCH))
}

/// Calls one tool a number of times; gives the nanoseconds that the calls took.
#[entry]
async fn measure(ctx: &CallContext, tool: String, times: u64) -> Result<u64> {
    let mut taken = Duration::ZERO;
    for batch in batches(times) {
        let arguments: Vec<Value> = (0..batch).map(|_| arguments()).collect();
        let begun = Instant::now();
        for arguments in arguments {
            black_box(ctx.call_tool(&tool, arguments).await?);
        }
        taken += begun.elapsed();
    }
    Ok(u64::try_from(taken.as_nanos())?)
}

fn arguments() -> Value {
    json!({ "left": 1, "right": 2, "label": "sum" })
}

/// The arguments, as they are written by hand.
#[derive(serde::Deserialize)]
struct Add {
    left: i64,
    right: i64,
    label: Option<String>,
}

type Body = Box<dyn Fn(Value) -> serde_json::Result<Value>>;

fn by_hand(times: u64) -> u64 {
    let body = |arguments| {
        let Add { left, right, label } = serde_json::from_value(arguments)?;
        black_box(label);
        Ok(Value::from(left + right))
    };
    let table: HashMap<String, Body> = (0..100).map(|n| (format!("add{n:02}"), Box::new(body) as Body)).collect();
    let mut taken = Duration::ZERO;
    for batch in batches(times) {
        let arguments: Vec<Value> = (0..batch).map(|_| arguments()).collect();
        let begun = Instant::now();
        for arguments in arguments {
            black_box(table[black_box("add42")](arguments).expect("a sum"));
        }
        taken += begun.elapsed();
    }
    u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX)
}

/// The least that a sync function costs off the async threads: the way there and back.
fn by_hand_blocking(tokio: &tokio::runtime::Runtime, times: u64) -> u64 {
    tokio.block_on(async {
        let begun = Instant::now();
        for n in 0..times {
            black_box(tokio::task::spawn_blocking(move || black_box(n) + 1).await.expect("a sum"));
        }
        u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    })
}

fn run(tokio: &tokio::runtime::Runtime, runtime: &Runtime, tool: &str, times: u64) -> u64 {
    tokio.block_on(runtime.run(measure { tool: tool.to_owned(), times })).expect("sums")
}

fn calls(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime of tokio");
    let plain = Runtime::builder().build().expect("a registry without faults");
    let lines = Runtime::builder()
        .sink(llm_do::event::JsonLines::new(std::io::sink()))
        .build()
        .expect("a registry without faults");
    // Kept in memory, and created for each measurement, since a journal replays its records.
    let journaled = |times| {
        let runtime = Runtime::builder()
            .journal(llm_do::journal::MemoryJournal::new())
            .build()
            .expect("a registry without faults");
        run(&tokio, &runtime, "add42", times)
    };
    let cases: [(&str, &dyn Fn(u64) -> u64); 7] = [
        ("by hand", &by_hand),
        ("inline", &|times| run(&tokio, &plain, "add42", times)),
        ("async", &|times| run(&tokio, &plain, "add_async", times)),
        ("inline, JSON Lines", &|times| run(&tokio, &lines, "add42", times)),
        ("inline, journaled in memory", &journaled),
        ("off the async threads", &|times| run(&tokio, &plain, "add_blocking", times)),
        ("off the async threads, by hand", &|times| by_hand_blocking(&tokio, times)),
    ];
    for (name, case) in cases {
        criterion.bench_function(&format!("one call, {name}"), |bencher| {
            bencher.iter_custom(|times| Duration::from_nanos(case(times)));
        });
    }
}

criterion_group!(benches, calls);
criterion_main!(benches);
