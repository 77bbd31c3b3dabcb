//! What happens to every call, whoever makes it.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::time::Duration;

use llm_do::approval::ApprovalMode;
use llm_do::event::ItemKind;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::usage::RunUsage;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Join two texts.
#[tool(effect = read_only)]
fn join(
    /// The first.
    left: String,
    /// The second.
    right: Option<String>,
    /// What comes between.
    #[arg(default = "-")]
    by: String,
) -> String {
    right.map_or_else(|| left.clone(), |right| format!("{left}{by}{right}"))
}

/// A point.
#[data]
#[derive(Debug, PartialEq)]
struct Point {
    x: i32,
    y: i32,
}

/// Move a point, as a library's own `Result` alias would have it.
#[tool(effect = read_only, inline)]
fn shift(point: Point, by: i32) -> std::io::Result<Point> {
    if by == 0 {
        return Err(std::io::Error::other("nothing to do"));
    }
    Ok(Point { x: point.x + by, y: point.y + by })
}

/// Do nothing.
#[tool(effect = read_only)]
async fn nothing() {}

/// Say where it runs.
#[tool(effect = read_only)]
fn place() -> String {
    format!("{:?}", std::thread::current().id())
}

/// Say where it runs, in place.
#[tool(effect = read_only, inline)]
fn place_inline() -> String {
    place()
}

/// Panic on a thread for blocking work.
#[tool(effect = read_only)]
fn panic_blocking() -> String {
    panic!("blocking {}", 1)
}

/// Panic in place.
#[tool(effect = read_only, inline)]
fn panic_inline() -> String {
    panic!("inline")
}

/// Panic after an await.
#[tool(effect = read_only)]
async fn panic_async() -> String {
    tokio::task::yield_now().await;
    panic!("async")
}

/// Count words that the application knows.
#[tool(effect = read_only)]
fn count(words: State<Vec<&'static str>>, prefix: &str) -> usize {
    words.iter().filter(|word| word.starts_with(prefix)).count()
}

/// Say who is called and how deep.
#[tool(effect = read_only)]
async fn whereabouts(ctx: &CallContext) -> (String, u32) {
    (ctx.name().to_owned(), ctx.depth())
}

/// Wait for ever.
#[tool(effect = read_only)]
async fn wait(ctx: &CallContext) -> String {
    ctx.cancelled().await;
    std::future::pending().await
}

/// Call what a stub could answer.
#[tool(effect = read_only)]
async fn through_trait(ctx: &dyn ToolContext) -> Result<Value> {
    Ok(ctx.call_tool("join", json!({ "left": "a" })).await?)
}

/// Uses some tools, and by name one that it did not declare.
#[entry(toolsets = [join, shift])]
async fn held(ctx: &CallContext<held>, name: String) -> Result<Value> {
    Ok(ctx.call_tool(&name, Value::Null).await?)
}

/// Calls tools with types.
#[entry(toolsets = [join, shift, whereabouts])]
async fn typed(ctx: &CallContext<typed>) -> Result<(String, Point, RunUsage)> {
    let text = ctx.call(join { left: "a".into(), right: Some("b".into()), by: "+".into() }).await?;
    let point = ctx.call(shift { point: Point { x: 1, y: 2 }, by: 3 }).await?;
    ctx.call(whereabouts {}).await?;
    Ok((text, point, ctx.usage()))
}

/// A builder with all the state that tools here take.
fn full() -> RuntimeBuilder {
    Runtime::builder().state(vec!["alpha", "beta", "also"]).state(std::sync::atomic::AtomicBool::new(false))
}

fn runtime() -> Runtime {
    full().approval_mode(ApprovalMode::RejectAll).build().unwrap()
}

async fn error_of(name: &str, arguments: Value) -> String {
    llm_do::error::chain(&runtime().run_named(name, arguments).await.unwrap_err())
}

#[tokio::test]
async fn a_typed_call_decodes_what_the_function_returns() {
    let (text, point, usage) = runtime().run(typed {}).await.unwrap();
    assert_eq!((text.as_str(), point), ("a+b", Point { x: 4, y: 5 }));
    assert_eq!(usage.tool_calls, 3);
}

#[tokio::test]
async fn defaults_and_options_may_be_left_out() {
    let run = |arguments| async { runtime().run_named("join", arguments).await.unwrap() };
    assert_eq!(run(json!({ "left": "a" })).await, "a");
    assert_eq!(run(json!({ "left": "a", "right": "b" })).await, "a-b");
}

#[tokio::test]
async fn no_arguments_are_accepted_where_none_are_required() {
    for arguments in [Value::Null, json!({})] {
        assert_eq!(runtime().run_named("nothing", arguments).await.unwrap(), Value::Null);
    }
}

#[tokio::test]
async fn wrong_arguments_are_named_all_at_once_with_their_place() {
    let error = error_of("shift", json!({ "point": { "x": "one", "y": 2 }, "bye": 3 })).await;
    let parts =
        ["invalid arguments for `shift`", "/point/x", "unknown field `bye`, expected `point`, `by`", "`by` is missing"];
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[tokio::test]
async fn an_unknown_name_gets_the_near_one() {
    assert_eq!(error_of("jion", Value::Null).await, "no tool `jion`: did you mean `join`?");
}

#[tokio::test]
async fn an_error_of_any_alias_of_result_keeps_its_cause() {
    let error = error_of("shift", json!({ "point": { "x": 1, "y": 1 }, "by": 0 })).await;
    assert_eq!(error, "`shift` failed: nothing to do");
}

#[tokio::test]
async fn a_sync_tool_runs_off_the_async_threads_unless_it_is_inline() {
    let runtime = runtime();
    // The test's runtime has this one thread.
    assert_eq!(runtime.run(place_inline {}).await.unwrap(), place());
    assert_ne!(runtime.run(crate::place {}).await.unwrap(), place());
}

#[tokio::test]
async fn a_panic_is_the_error_of_that_call() {
    for (name, text) in [("panic_blocking", "blocking 1"), ("panic_inline", "inline"), ("panic_async", "async")] {
        assert_eq!(error_of(name, Value::Null).await, format!("`{name}` panicked: {text}"));
    }
}

#[tokio::test]
async fn injected_parameters_are_not_in_the_schema() {
    let runtime = runtime();
    let schema = runtime.registry().get("count").unwrap().parameters().clone();
    assert_eq!(schema["required"], json!(["prefix"]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1);
    assert_eq!(runtime.run_named("count", json!({ "prefix": "al" })).await.unwrap(), 2);
}

#[tokio::test]
async fn a_schema_shows_descriptions_and_defaults_and_no_titles() {
    let schema = runtime().registry().get("join").unwrap().parameters().clone();
    let expected = json!({
        "type": "object",
        "properties": {
            "left": { "type": "string", "description": "The first." },
            "right": { "type": ["string", "null"], "description": "The second." },
            "by": { "type": "string", "description": "What comes between.", "default": "-" }
        },
        "required": ["left"],
        "additionalProperties": false
    });
    assert_eq!(schema, expected);
}

#[tokio::test]
async fn missing_state_is_reported_for_all_tools_when_the_runtime_is_built() {
    let error = Runtime::builder().build().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("missing state; give it with `Runtime::builder().state(..)`:\n  `"), "{text}");
    assert!(text.contains("\n  `Vec<&'static str>` for `count`"), "{text}");
    assert_eq!(format!("{error:?}"), text, "a test that fails by `?` shows it");
}

#[tokio::test]
async fn a_tool_may_be_tested_with_a_stub_of_its_context() {
    assert_eq!(runtime().run_named("through_trait", Value::Null).await.unwrap(), "a");
}

#[tokio::test]
async fn a_call_by_name_is_held_to_the_declaration() {
    let error = error_of("held", json!({ "name": "nothing" })).await;
    assert!(error.contains("`held` may not call `nothing`: add it to the `toolsets` of `held`"), "{error}");
}

#[tokio::test]
async fn a_context_knows_its_callee_and_its_depth() {
    assert_eq!(runtime().run(whereabouts {}).await.unwrap(), ("whereabouts".to_owned(), 0));
}

#[tokio::test]
async fn a_cancelled_run_ends_with_an_error_that_says_so() {
    let token = CancellationToken::new();
    let runtime = full().cancellation(token.clone()).build().unwrap();
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(runtime.run(wait {}), cancel);
    assert!(result.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn dropping_a_run_cancels_it() {
    let runtime = runtime();
    let timeout = tokio::time::timeout(Duration::from_millis(20), runtime.run(wait {}));
    assert!(timeout.await.is_err(), "the tool waits for ever");
}

#[test]
fn functions_stay_callable_as_they_are() {
    assert_eq!(join("a".into(), None, "-".into()), "a");
    assert_eq!(count(State::new(vec!["al"]), "a"), 1);
}

#[test]
fn a_registered_item_says_what_it_is_and_where() {
    let runtime = runtime();
    let item = runtime.registry().get("held").unwrap();
    assert_eq!(
        (item.kind(), item.description()),
        (ItemKind::Entry, "Uses some tools, and by name one that it did not declare.")
    );
    assert!(item.location().contains("dispatch.rs:"), "{}", item.location());
    assert_eq!(item.declared().unwrap().collect::<Vec<_>>(), ["join", "shift"]);
}

/// Wait until told to stop, and say so to the application.
#[tool(effect = read_only)]
fn watch(ctx: &CallContext, stopped: State<std::sync::atomic::AtomicBool>) {
    while !ctx.is_cancelled() {
        std::thread::yield_now();
    }
    stopped.store(true, std::sync::atomic::Ordering::SeqCst);
}

/// Gives up on a slow tool.
#[entry(toolsets = [watch])]
async fn impatient(ctx: &CallContext<impatient>, stopped: State<std::sync::atomic::AtomicBool>) -> bool {
    let call = tokio::time::timeout(Duration::from_millis(20), ctx.call(watch {})).await;
    while !stopped.load(std::sync::atomic::Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    call.is_err()
}

/// Calls again and again, whatever happens.
#[entry(toolsets = [nothing])]
async fn stubborn(ctx: &CallContext<stubborn>) {
    loop {
        let _ = ctx.call(nothing {}).await;
    }
}

/// Call itself.
#[tool(effect = read_only)]
async fn endless(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call_tool("endless", Value::Null).await?)
}

#[tokio::test]
async fn a_nested_call_that_is_dropped_is_cancelled_and_reported_as_finished() {
    let recorder = llm_do::testing::Recorder::new();
    assert!(full().sink(recorder.clone()).build().unwrap().run(impatient {}).await.unwrap());
    let finished = |event: &&llm_do::event::Event| matches!(event.kind, llm_do::event::EventKind::CallFinished { .. });
    let names: Vec<_> = recorder.events().iter().filter(finished).map(|event| event.name.to_string()).collect();
    assert_eq!(names, ["watch", "impatient"]);
}

#[tokio::test]
async fn code_that_never_stops_calling_is_stopped_by_a_cancellation() {
    let token = CancellationToken::new();
    let runtime = full().cancellation(token.clone()).build().unwrap();
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(runtime.run(stubborn {}), cancel);
    assert!(result.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_tool_that_calls_itself_without_an_end_is_an_error() {
    assert!(error_of("endless", Value::Null).await.ends_with("does it call itself without an end?"));
}
