//! Counts the allocations of a call, and how often a schema is written.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::prelude::*;
use serde_json::{Value, json};

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add_inline(left: i64, right: i64, label: Option<String>) -> i64 {
    drop(label);
    left + right
}

/// Add two numbers.
#[tool(effect = read_only)]
async fn add_async(left: i64, right: i64, label: Option<String>) -> i64 {
    drop(label);
    left + right
}

/// How often the schema of `add_one` was written, which has an example.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

fn example() -> i64 {
    WRITTEN.fetch_add(1, Ordering::Relaxed).into()
}

/// Add one to a number.
#[tool(effect = read_only)]
fn add_one(#[arg(example = example())] number: i64) -> i64 {
    number + 1
}

/// Calls a tool a number of times.
#[entry]
async fn repeat(ctx: &CallContext, tool: String, times: usize) -> Result<()> {
    for _ in 0..times {
        black_box(ctx.call_tool(&tool, arguments()).await?);
    }
    Ok(())
}

/// Calls a tool a number of times, from text to text.
#[entry]
async fn repeat_text(ctx: &CallContext, tool: String, times: usize) -> Result<()> {
    for _ in 0..times {
        black_box(ctx.call_tool_json(&tool, r#"{"left":1,"right":2,"label":"sum"}"#).await?);
    }
    Ok(())
}

fn arguments() -> Value {
    json!({ "left": 1, "right": 2, "label": "sum" })
}

/// Returns the allocations of one call: the difference between 200 and 100 calls, without those of the arguments.
fn allocations(tool: &str) -> u64 {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a tokio runtime");
    let runtime = crate::own_builder().build().expect("a valid registry");
    let run = |times| tokio.block_on(runtime.run(repeat { tool: tool.to_owned(), times })).expect("sums");
    // The first run makes one-time allocations, such as schemas.
    run(1);
    let count = |times| allocation_counter::measure(|| run(times)).count_total;
    let in_arguments = allocation_counter::measure(|| drop(black_box(arguments()))).count_total;
    (count(200) - count(100)) / 100 - in_arguments
}

#[test]
fn a_call_by_name_allocates_its_context_its_future_its_arguments_and_its_result() {
    assert_eq!(allocations("add_inline"), 5);
}

#[test]
fn a_call_of_an_async_tool_allocates_its_body_as_well() {
    assert_eq!(allocations("add_async"), 6);
}

#[test]
fn a_call_from_text_to_text_allocates_its_label_as_well() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a tokio runtime");
    let runtime = crate::own_builder().build().expect("a valid registry");
    let run = |times| tokio.block_on(runtime.run(repeat_text { tool: "add_inline".into(), times })).expect("sums");
    run(1);
    let count = |times| allocation_counter::measure(|| run(times)).count_total;
    assert_eq!((count(200) - count(100)) / 100, 6);
}

#[test]
fn a_schema_is_written_once_and_only_if_it_is_needed() {
    let runtime = crate::own_builder().build().expect("a valid registry");
    assert_eq!(WRITTEN.load(Ordering::Relaxed), 0);
    let tool = runtime.registry().get("add_one").expect("a linked tool");
    assert_eq!(tool.parameters(), tool.parameters());
    assert_eq!(WRITTEN.load(Ordering::Relaxed), 1);
}
