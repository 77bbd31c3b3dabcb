//! Dispatch: what every call has, from code or from a model.

use std::time::Duration;

use llm_do::approval::ApprovalMode;
use llm_do::event::ItemKind;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::usage::RunUsage;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Join two texts.
#[tool(effect = read_only)]
fn join(
    /// First text.
    left: String,
    /// Second text.
    right: Option<String>,
    /// Separator.
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

/// Move a point. The return type is a `Result` alias.
#[tool(effect = read_only, inline)]
fn shift(point: Point, by: i32) -> std::io::Result<Point> {
    if by == 0 {
        return Err(std::io::Error::other("the distance is 0"));
    }
    Ok(Point { x: point.x + by, y: point.y + by })
}

/// Do nothing.
#[tool(effect = read_only)]
async fn nothing() {}

/// Return the id of the thread.
#[tool(effect = read_only)]
fn place() -> String {
    format!("{:?}", std::thread::current().id())
}

/// Return the id of the thread, inline.
#[tool(effect = read_only, inline)]
fn place_inline() -> String {
    place()
}

/// Panic on a thread for blocking work.
#[tool(effect = read_only)]
fn panic_blocking() -> String {
    panic!("blocking {}", 1)
}

/// Panic inline.
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
fn count_prefixed(words: State<Vec<&'static str>>, prefix: &str) -> usize {
    words.iter().filter(|word| word.starts_with(prefix)).count()
}

/// Return the name and the depth of the call.
#[tool(effect = read_only)]
async fn whereabouts(ctx: &CallContext) -> (String, u32) {
    (ctx.name().to_owned(), ctx.depth())
}

/// Wait until cancelled, and then forever.
#[tool(effect = read_only)]
async fn wait(ctx: &CallContext) -> String {
    ctx.cancelled().await;
    std::future::pending().await
}

/// Call a tool through the context trait.
#[tool(effect = read_only)]
async fn through_trait(ctx: &dyn ToolContext) -> Result<Value> {
    Ok(ctx.call_tool("join", json!({ "left": "a" })).await?)
}

/// Calls by name a tool that it did not declare.
#[entry(toolsets = [join, shift])]
async fn restricted(ctx: &CallContext<restricted>, name: String) -> Result<Value> {
    Ok(ctx.call_tool(&name, Value::Null).await?)
}

/// Makes typed calls.
#[entry(toolsets = [join, shift, whereabouts])]
async fn typed(ctx: &CallContext<typed>) -> Result<(String, Point, RunUsage)> {
    let text = ctx.call(join { left: "a".into(), right: Some("b".into()), by: "+".into() }).await?;
    let point = ctx.call(shift { point: Point { x: 1, y: 2 }, by: 3 }).await?;
    ctx.call(whereabouts {}).await?;
    Ok((text, point, ctx.usage()))
}

/// Returns a builder with the state of all tools in this file.
fn builder_with_state() -> RuntimeBuilder {
    crate::own_builder().state(vec!["alpha", "beta", "also"]).state(Watch::default())
}

fn runtime() -> Runtime {
    builder_with_state().approval_mode(ApprovalMode::RejectAll).build().unwrap()
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
async fn all_invalid_arguments_are_reported_together_with_their_paths() {
    let error = error_of("shift", json!({ "point": { "x": "one", "y": 2 }, "bye": 3 })).await;
    let parts =
        ["invalid arguments for `shift`", "/point/x", "unknown field `bye`, expected `point`, `by`", "`by` is missing"];
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[tokio::test]
async fn an_unknown_name_gets_a_suggestion() {
    assert_eq!(error_of("jion", Value::Null).await, "unknown tool `jion`: did you mean `join`?");
}

#[tokio::test]
async fn an_error_behind_a_result_alias_keeps_its_text() {
    let error = error_of("shift", json!({ "point": { "x": 1, "y": 1 }, "by": 0 })).await;
    assert_eq!(error, "`shift` failed: the distance is 0");
}

#[tokio::test]
async fn a_sync_tool_runs_off_the_async_threads_unless_it_is_inline() {
    let runtime = runtime();
    // The test's runtime has this one thread.
    assert_eq!(runtime.run(place_inline {}).await.unwrap(), place());
    assert_ne!(runtime.run(crate::dispatch::place {}).await.unwrap(), place());
}

#[tokio::test]
async fn a_panic_is_an_error_of_its_call() {
    for (name, text) in [("panic_blocking", "blocking 1"), ("panic_inline", "inline"), ("panic_async", "async")] {
        assert_eq!(error_of(name, Value::Null).await, format!("`{name}` panicked: {text}"));
    }
}

#[tokio::test]
async fn injected_parameters_are_not_in_the_schema() {
    let runtime = runtime();
    let schema = runtime.registry().get("count_prefixed").unwrap().parameters().clone();
    assert_eq!(schema["required"], json!(["prefix"]));
    assert_eq!(schema["properties"].as_object().unwrap().len(), 1);
    assert_eq!(runtime.run_named("count_prefixed", json!({ "prefix": "al" })).await.unwrap(), 2);
}

#[tokio::test]
async fn a_schema_shows_descriptions_and_defaults_and_no_titles() {
    let schema = runtime().registry().get("join").unwrap().parameters().clone();
    let expected = json!({
        "type": "object",
        "properties": {
            "left": { "type": "string", "description": "First text." },
            "right": { "type": ["string", "null"], "description": "Second text." },
            "by": { "type": "string", "description": "Separator.", "default": "-" }
        },
        "required": ["left"],
        "additionalProperties": false
    });
    assert_eq!(schema, expected);
}

#[tokio::test]
async fn missing_state_is_reported_for_all_tools_when_the_runtime_is_built() {
    let error = crate::own_builder().build().unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("missing state; set it with `Runtime::builder().state(..)`:\n  `"), "{text}");
    assert!(text.contains("\n  `Vec<&'static str>` for `count_prefixed`"), "{text}");
    assert_eq!(format!("{error:?}"), text, "a test that fails with `?` shows the text");
}

#[tokio::test]
async fn a_tool_may_take_the_context_trait() {
    assert_eq!(runtime().run_named("through_trait", Value::Null).await.unwrap(), "a");
}

#[tokio::test]
async fn an_undeclared_tool_cannot_be_called_by_name() {
    let error = error_of("restricted", json!({ "name": "nothing" })).await;
    assert!(error.contains("`restricted` may not call `nothing`: add it to the `toolsets` of `restricted`"), "{error}");
}

#[tokio::test]
async fn a_context_has_the_name_and_the_depth_of_its_call() {
    assert_eq!(runtime().run(whereabouts {}).await.unwrap(), ("whereabouts".to_owned(), 0));
}

#[tokio::test]
async fn a_cancelled_run_fails_with_a_cancellation_error() {
    let token = CancellationToken::new();
    let runtime = builder_with_state().cancellation(token.clone()).build().unwrap();
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
    assert!(timeout.await.is_err(), "the tool never returns");
}

#[test]
fn functions_can_still_be_called_directly() {
    assert_eq!(join("a".into(), None, "-".into()), "a");
    assert_eq!(count_prefixed(State::new(vec!["al"]), "a"), 1);
}

#[test]
fn a_registered_item_has_its_kind_description_location_and_toolsets() {
    let runtime = runtime();
    let item = runtime.registry().get("restricted").unwrap();
    assert_eq!((item.kind(), item.description()), (ItemKind::Entry, "Calls by name a tool that it did not declare."));
    assert!(item.location().contains("dispatch.rs:"), "{}", item.location());
    assert_eq!(item.declared().unwrap().collect::<Vec<_>>(), ["join", "shift"]);
}

/// How far a call of [`watch`] is.
#[derive(Debug, Default)]
struct Watch {
    begun: Notify,
    stopped: Notify,
}

/// Wait until cancelled.
#[tool(effect = read_only)]
fn watch(ctx: &CallContext, watch: State<Watch>) {
    watch.begun.notify_one();
    while !ctx.is_cancelled() {
        std::thread::yield_now();
    }
    watch.stopped.notify_one();
}

/// Drops the call of a tool that has begun.
#[entry(toolsets = [watch])]
async fn impatient(ctx: &CallContext<impatient>, watched: State<Watch>) -> bool {
    let is_dropped = tokio::select! {
        _ = ctx.call(watch {}) => false,
        () = watched.begun.notified() => true,
    };
    watched.stopped.notified().await;
    is_dropped
}

/// Calls a tool in an endless loop and ignores errors.
#[entry(toolsets = [nothing])]
async fn stubborn(ctx: &CallContext<stubborn>) {
    loop {
        let _ = ctx.call(nothing {}).await;
    }
}

/// Call itself, without an end.
#[tool(effect = read_only)]
async fn endless(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call_tool("endless", Value::Null).await?)
}

#[tokio::test]
async fn a_nested_call_that_is_dropped_is_cancelled_and_reported_as_finished() {
    let recorder = llm_do::testing::Recorder::new();
    assert!(builder_with_state().sink(recorder.clone()).build().unwrap().run(impatient {}).await.unwrap());
    let finished = |event: &&llm_do::event::Event| matches!(event.kind, llm_do::event::EventKind::CallFinished { .. });
    let names: Vec<_> = recorder.events().iter().filter(finished).map(|event| event.name.to_string()).collect();
    assert_eq!(names, ["watch", "impatient"]);
}

#[tokio::test]
async fn a_cancellation_stops_an_endless_loop_of_calls() {
    let token = CancellationToken::new();
    let runtime = builder_with_state().cancellation(token.clone()).build().unwrap();
    let cancel = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(runtime.run(stubborn {}), cancel);
    assert!(result.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn infinite_recursion_is_an_error() {
    assert!(error_of("endless", Value::Null).await.ends_with("possible infinite recursion"));
}
