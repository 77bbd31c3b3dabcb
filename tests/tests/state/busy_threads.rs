//! Timeouts are kept while every blocking thread is busy.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::context::SubtaskRequest;
use llm_do::event::{Delivery, Event, EventSink};
use llm_do::guard::FunctionGuard;
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, TestModel};
use llm_do::usage::Usage;
use llm_do::worker::{OutputMode, WorkerSpec};
use llm_do::{Model, Value, async_trait, json};

/// The time after which a blocked thread is released, so that a test fails instead of hanging; longer than any timeout here.
const GATE_TIMEOUT: Duration = Duration::from_secs(20);

/// A shared flag.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Block the thread until the test ends.
#[tool(effect = read_only, timeout = "50ms")]
fn block_thread(ended: State<Flag>, gate: State<Mutex<std::sync::mpsc::Receiver<()>>>) {
    let _ = gate.lock().unwrap().recv_timeout(GATE_TIMEOUT);
    ended.set();
}

/// Note that it ran.
#[tool(effect = destructive, timeout = "50ms")]
fn note(ran: State<Flag>) {
    ran.set();
}

/// Say hello.
#[tool(effect = read_only, inline)]
fn greet() -> String {
    "hello".to_owned()
}

#[derive(Debug)]
struct Endless;

#[async_trait]
impl EventSink for Endless {
    fn emit(&self, _: &Arc<Event>) {}

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        pending::<()>().await;
    }
}

/// A tokio runtime whose only blocking thread is busy until the sender is dropped.
fn busy_runtime(timers: bool) -> (tokio::runtime::Runtime, Sender<()>, Flag) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    if timers {
        builder.enable_time();
    }
    let tokio = builder.max_blocking_threads(1).build().unwrap();
    let (gate, gated) = channel::<()>();
    let late = Flag::default();
    let passed = late.clone();
    tokio.spawn_blocking(move || {
        if gated.recv_timeout(GATE_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
            passed.set();
        }
    });
    (tokio, gate, late)
}

#[test]
fn a_tool_that_blocks_past_its_timeout_does_not_keep_block_on() {
    let ended = Flag::default();
    let (gate, gated) = channel::<()>();
    let runtime = crate::own_builder().state(ended.clone()).state(Mutex::new(gated)).build().unwrap();
    assert!(runtime.block_on(block_thread {}).unwrap_err().is_timeout());
    assert!(!ended.is_set(), "it waited for the blocked thread");
    drop(gate);
}

#[test]
fn a_root_call_waits_for_sinks_at_most_its_timeout_when_no_thread_is_free() {
    for timers in [false, true] {
        let (tokio, gate, late) = busy_runtime(timers);
        let (_, gated) = channel::<()>();
        let builder = crate::own_builder().state(Flag::default()).state(Mutex::new(gated));
        let runtime = builder.sink(Endless).build().unwrap();
        assert_eq!(tokio.block_on(runtime.run(greet {})).unwrap(), "hello");
        assert!(!late.is_set(), "it waited for a free thread");
        drop(gate);
    }
}

#[test]
fn a_tool_that_timed_out_before_a_thread_was_free_never_runs() {
    let (tokio, gate, _) = busy_runtime(true);
    let ran = Flag::default();
    let (_, gated) = channel::<()>();
    let runtime = crate::own_builder().state(ran.clone()).state(Mutex::new(gated)).build().unwrap();
    assert!(tokio.block_on(runtime.run(note {})).unwrap_err().is_timeout());
    drop(gate);
    // The only blocking thread runs its queue in order.
    tokio.block_on(tokio.spawn_blocking(|| ())).unwrap();
    assert!(!ran.is_set());
}

/// A schema that the fast check does not support.
fn numbers() -> Value {
    let items = json!({ "type": "number", "maximum": 10 });
    json!({ "type": "object", "properties": { "all": { "type": "array", "items": items } } })
}

/// A value that takes some work to check, and whose last item is invalid.
fn heavy() -> Value {
    let mut all = vec![json!(1.5); 50_000];
    all.push(json!(11));
    json!({ "all": all })
}

/// Calls the worker `sum` with a value that takes long to check.
#[entry(timeout = "50ms")]
async fn hurry(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call_tool("sum", heavy()).await?)
}

/// Calls the worker `sum` with a value that a guard or an approver replaces.
#[entry(timeout = "50ms")]
async fn hurry_with_little(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.call_tool("sum", json!({ "all": [] })).await?)
}

/// Runs a subtask for the worker `sum` with a value that takes some work to check.
#[entry(timeout = "50ms")]
async fn hurry_a_task(ctx: &CallContext) -> Result<Value> {
    Ok(ctx.subtask(SubtaskRequest::new("sum").input("all", heavy()["all"].clone())).await?)
}

fn summing(model: impl Model + 'static) -> RuntimeBuilder {
    let spec = WorkerSpec::new("sum", "Sum up.").input_schema(numbers()).hints(["sum"]);
    let (_, gated) = channel::<()>();
    let builder = crate::own_builder().state(Flag::default()).state(Mutex::new(gated));
    builder.worker(spec).force_model(model)
}

/// Asserts that a call times out while the thread that checks a value is busy.
#[track_caller]
fn assert_timely(builder: RuntimeBuilder, entry: &str) {
    let (tokio, gate, late) = busy_runtime(true);
    let runtime = builder.build().unwrap();
    let error = tokio.block_on(runtime.run_named(entry, json!({}))).unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert!(!late.is_set());
    drop(gate);
}

#[test]
fn a_timeout_fires_while_arguments_are_checked() {
    assert_timely(summing(TestModel::new()), "hurry");
}

#[test]
fn a_timeout_fires_while_arguments_changed_by_a_guard_are_checked() {
    let guard = FunctionGuard::new("heavy").before_call(|call| {
        if call.name() == "sum" {
            *call.arguments_mut() = heavy();
        }
        Ok(())
    });
    assert_timely(summing(TestModel::new()).guard(guard), "hurry_with_little");
}

#[test]
fn a_timeout_fires_while_a_worker_for_a_subtask_is_chosen() {
    assert_timely(summing(TestModel::new()), "hurry_a_task");
}

/// Asks a worker for a value that takes long to check.
#[entry(timeout = "50ms")]
async fn hurry_an_answer(ctx: &CallContext, mode: String) -> Result<Value> {
    let mode = if mode == "tool" { OutputMode::Tool } else { OutputMode::Prompted };
    let spec = WorkerSpec::new("list", "List.").output_schema(numbers()).output_mode(mode);
    Ok(ctx.llm_agent(spec).input("list").json().await?)
}

/// A model that answers with a value that takes long to check.
fn answering(text: impl Fn() -> String + Send + Sync + 'static) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        let part = match request.tools.first() {
            Some(tool) => ResponsePart::ToolCall(ToolCall::new("1", &*tool.name, heavy().to_string())),
            None => ResponsePart::Text { text: text() },
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    })
}

#[test]
fn a_timeout_fires_while_an_answer_is_checked() {
    for mode in ["tool", "prompted"] {
        for text in [|| heavy().to_string(), || format!("Either {{}} or {}", heavy())] {
            let (tokio, gate, late) = busy_runtime(true);
            let runtime = summing(answering(text)).build().unwrap();
            let error = tokio.block_on(runtime.run(hurry_an_answer { mode: mode.into() })).unwrap_err();
            assert!(error.is_timeout(), "{error}");
            assert!(!late.is_set());
            drop(gate);
        }
    }
}

#[test]
fn a_value_checked_on_a_blocking_thread_has_the_same_faults() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let runtime = summing(TestModel::new().text("done")).build().unwrap();
    let error = tokio.block_on(runtime.run_named("sum", heavy())).unwrap_err();
    assert!(llm_do::error::chain(&error).contains("/all/50000"), "{error}");
    let mut fitting = heavy();
    fitting["all"][50_000] = json!(10);
    assert_eq!(tokio.block_on(runtime.run_named("sum", fitting)).unwrap(), "done");
}
