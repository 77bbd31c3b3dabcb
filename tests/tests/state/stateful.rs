//! Stateful toolsets: an instance for each call that declares them, opened once and closed once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::approval::ApprovalMode;
use llm_do::context::CancellationToken;
use llm_do::error::chain;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, TestModel};
use llm_do::usage::Usage;
use llm_do::{Registry, Value, json};

/// What happened to instances, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

struct Counter {
    log: Log,
    name: String,
    count: AtomicU32,
}

/// Counts.
#[tool]
impl Counter {
    const STEP: u32 = 1;

    async fn open(ctx: &CallContext, log: State<Log>) -> Self {
        let name = ctx.name().to_owned();
        log.note(format!("open {name}"));
        Self { log: Log::clone(&log), name, count: AtomicU32::new(0) }
    }

    /// Count one up.
    #[tool(effect = read_only, inline)]
    fn count_up(&self, #[arg(default = 1)] times: u32) -> u32 {
        self.step(times)
    }

    /// Count up, and never return.
    #[tool(effect = read_only)]
    async fn count_and_wait(&self, ctx: &CallContext) -> Result<(), &'static str> {
        self.step(1);
        ctx.cancelled().await;
        Err("cancelled")
    }

    /// Say what counts.
    #[tool(effect = read_only)]
    fn describe() -> &'static str {
        "a counter"
    }

    fn step(&self, times: u32) -> u32 {
        self.count.fetch_add(times * Self::STEP, Ordering::Relaxed) + times
    }

    async fn close(self) -> Result<(), String> {
        self.log.note(format!("close {} at {}", self.name, self.count.load(Ordering::Relaxed)));
        if self.count.load(Ordering::Relaxed) == 13 { Err("unlucky".to_owned()) } else { Ok(()) }
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

/// Notes of one call.
#[tool(name = "notebook")]
impl Notes {
    /// Add a note, and return all.
    #[tool(effect = read_only, args = AddNote)]
    fn add_note(&self, text: String) -> Vec<String> {
        let mut notes = self.0.lock().unwrap();
        notes.push(text);
        notes.clone()
    }
}

/// Takes two seconds to close.
struct Slow(Log);

/// A slow toolset.
#[tool]
impl Slow {
    async fn open(log: State<Log>) -> Self {
        log.note("slow opens");
        Self(Log::clone(&log))
    }

    /// Do nothing.
    #[tool(effect = read_only)]
    fn idle(&self) {}

    async fn close(self) {
        self.0.note("slow closes");
        tokio::time::sleep(Duration::from_secs(2)).await;
        self.0.note("slow closed");
    }
}

/// Never closes.
#[derive(Default)]
struct Stuck;

/// A toolset that hangs.
#[tool]
impl Stuck {
    /// Do nothing either.
    #[tool(effect = read_only)]
    fn idle_too(&self) {}

    async fn close(self) {
        std::future::pending::<()>().await;
    }
}

/// Opens once the gate does.
struct Gated(Log);

/// A toolset behind a gate.
#[tool]
impl Gated {
    fn open(log: State<Log>, gate: State<Mutex<Receiver<()>>>) -> Self {
        log.note("gated opens");
        gate.lock().unwrap().recv().unwrap();
        Self(Log::clone(&log))
    }

    /// Do nothing behind the gate.
    #[tool(effect = read_only)]
    fn idle_behind(&self) {}

    fn close(self) {
        self.0.note("gated closed");
    }
}

/// Waits for an instance to open.
#[entry(toolsets = [Gated])]
async fn wait_for_gate() {}

/// Declares a toolset that takes long to close.
#[tool(effect = read_only, toolsets = [Slow])]
async fn slow_child(_: &CallContext<slow_child>) {}

/// Calls an entry whose toolset takes long to close, with a short timeout.
#[entry(toolsets = [slow_child], timeout = "1s")]
async fn hasty(ctx: &CallContext<hasty>) -> Result<()> {
    Ok(ctx.call(slow_child {}).await?)
}

/// Declares two toolsets, and never returns.
#[entry(toolsets = [Counter, Slow])]
async fn two(ctx: &CallContext<two>) -> Result<()> {
    Ok(ctx.call(count_and_wait {}).await?)
}

/// Declares a toolset that never closes.
#[entry(toolsets = [Stuck])]
async fn stuck() {}

struct Broken;

/// Never opens.
#[tool]
impl Broken {
    fn open() -> Result<Self, String> {
        Err("no disk".to_owned())
    }

    /// Do nothing, since it never opens.
    #[tool(effect = read_only)]
    fn never(&self) {}
}

/// Counts twice, and lets a child count.
#[entry(toolsets = [Counter, child])]
async fn parent(ctx: &CallContext<parent>) -> Result<Vec<u32>> {
    let first = ctx.call(count_up { times: 2 }).await?;
    let inner = ctx.call(child {}).await?;
    let last = ctx.call(count_up::default()).await?;
    Ok(vec![first, inner, last])
}

/// Count once.
#[tool(effect = read_only, toolsets = [Counter])]
async fn child(ctx: &CallContext<child>) -> Result<u32> {
    Ok(ctx.call(count_up { times: 1 }).await?)
}

/// Counts, then fails.
#[entry(toolsets = [Counter])]
async fn failing(ctx: &CallContext<failing>, panic: bool) -> Result<()> {
    ctx.call(count_up { times: 5 }).await?;
    assert!(!panic, "asked to");
    Err("on purpose".into())
}

/// Waits in a method.
#[entry(toolsets = [Counter])]
async fn waiting(ctx: &CallContext<waiting>) -> Result<()> {
    Ok(ctx.call(count_and_wait {}).await?)
}

/// Counts to a number at which closing fails.
#[entry(toolsets = [Counter])]
async fn unlucky(ctx: &CallContext<unlucky>) -> Result<u32> {
    Ok(ctx.call(count_up { times: 13 }).await?)
}

/// Count to a number at which closing fails.
#[tool(effect = read_only, toolsets = [Counter])]
async fn unlucky_child(ctx: &CallContext<unlucky_child>) -> Result<u32> {
    Ok(ctx.call(count_up { times: 13 }).await?)
}

/// Reports whether a child failed, and continues.
#[entry(toolsets = [unlucky_child, child])]
async fn forgiving(ctx: &CallContext<forgiving>) -> Result<bool> {
    let failed = ctx.call(unlucky_child {}).await.is_err();
    ctx.call(child {}).await?;
    Ok(failed)
}

/// Declares a toolset that cannot be opened.
#[entry(toolsets = [Counter, Broken])]
async fn hopeless(ctx: &CallContext<hopeless>) -> Result<()> {
    Ok(ctx.call(never {}).await?)
}

/// Counts by names of a prefix.
#[entry(toolsets = [prefixed("my_", Counter.only([count_up]))])]
async fn by_name(ctx: &CallContext<by_name>) -> Result<Value> {
    ctx.call_tool("my_count_up", json!({})).await?;
    Ok(ctx.call_tool("my_count_up", json!({})).await?)
}

/// Take notes.
#[worker(toolsets = [Notes])]
async fn scribe(input: String) -> String;

fn runtime() -> (RuntimeBuilder, Log) {
    let log = Log::default();
    let gate = Mutex::new(channel::<()>().1);
    let builder = crate::own_builder()
        .approval_mode(ApprovalMode::ApproveAll)
        .on_unknown(llm_do::OnUnknown::Rerun)
        .state(log.clone())
        .state(gate);
    (builder.force_model(TestModel::new()), log)
}

#[tokio::test]
async fn each_call_that_declares_a_toolset_has_its_own_instance() {
    let (builder, log) = runtime();
    assert_eq!(builder.build().unwrap().run(parent {}).await.unwrap(), [2, 1, 3]);
    assert_eq!(log.all(), ["open parent", "open child", "close child at 1", "close parent at 3"]);
}

#[tokio::test]
async fn a_caller_without_a_declaration_gets_an_instance_for_each_call() {
    let (builder, log) = runtime();
    let runtime = builder.build().unwrap();
    for _ in 0..2 {
        assert_eq!(runtime.run(count_up { times: 1 }).await.unwrap(), 1);
    }
    assert_eq!(log.all(), ["open count_up", "close count_up at 1", "open count_up", "close count_up at 1"]);
}

#[tokio::test]
async fn an_instance_is_closed_after_an_error_and_after_a_panic() {
    for panic in [false, true] {
        let (builder, log) = runtime();
        builder.build().unwrap().run(failing { panic }).await.unwrap_err();
        assert_eq!(log.all(), ["open failing", "close failing at 5"]);
    }
}

#[tokio::test]
async fn an_instance_is_closed_after_a_cancellation() {
    let (builder, log) = runtime();
    let token = CancellationToken::new();
    let runtime = builder.cancellation(token.clone()).build().unwrap();
    let cancel = async {
        while log.all().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (result, ()) = tokio::join!(runtime.run(waiting {}), cancel);
    result.unwrap_err();
    assert_eq!(log.all(), ["open waiting", "close waiting at 1"]);
}

#[tokio::test]
async fn an_instance_is_closed_when_the_run_is_dropped() {
    let (builder, log) = runtime();
    let runtime = builder.build().unwrap();
    let started = async {
        while log.all().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = runtime.run(waiting {}) => panic!("it waits for ever"),
        () = started => {}
    }
    while log.all().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(log.all()[1].rsplit_once(' ').unwrap().0, "close waiting at");
}

#[tokio::test(start_paused = true)]
async fn closing_continues_after_the_callers_timeout() {
    let (builder, log) = runtime();
    let error = builder.build().unwrap().run(hasty {}).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(log.all(), ["slow opens", "slow closes", "slow closed"]);
}

/// Polls `run` until `count` things happened, drops it, and waits until `all` happened.
async fn drop_after(run: impl Future, log: &Log, count: usize, all: usize) {
    let reached = async |count| {
        while log.all().len() < count {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = run => panic!("it ended before it was dropped"),
        () = reached(count) => {}
    }
    while log.all().len() < all {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn closing_continues_when_the_run_is_dropped() {
    let (builder, log) = runtime();
    let runtime = builder.build().unwrap();
    drop_after(runtime.run(slow_child {}), &log, 2, 3).await;
    assert_eq!(log.all(), ["slow opens", "slow closes", "slow closed"]);
}

#[tokio::test(start_paused = true)]
async fn instances_of_a_dropped_run_are_closed_in_reverse_order() {
    let (builder, log) = runtime();
    let runtime = builder.build().unwrap();
    drop_after(runtime.run(two {}), &log, 2, 5).await;
    tokio::time::sleep(Duration::from_secs(9)).await;
    let closed: Vec<_> = log.all()[2..].iter().map(|note| note.split(" at ").next().unwrap().to_owned()).collect();
    assert_eq!(closed, ["slow closes", "slow closed", "close two"]);
}

#[tokio::test]
async fn a_close_that_times_out_fails_the_call() {
    let runtime = runtime().0.close_timeout(Duration::from_millis(20)).build().unwrap();
    let error = runtime.run(stuck {}).await.unwrap_err();
    assert_eq!(chain(&error), "`stuck` failed: a toolset could not be closed: `close` took longer than 20ms");
}

#[tokio::test]
async fn an_instance_that_opens_after_its_call_was_dropped_is_closed() {
    let (builder, log) = runtime();
    let (gate, gated) = channel();
    let runtime = builder.state(Mutex::new(gated)).build().unwrap();
    let opening = log.clone();
    let opened = async {
        while opening.all().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = runtime.run(wait_for_gate {}) => panic!("the gate is closed"),
        () = opened => {}
    }
    gate.send(()).unwrap();
    let closed = async {
        while log.all().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), closed).await.unwrap();
    assert_eq!(log.all(), ["gated opens", "gated closed"]);
}

#[tokio::test]
async fn a_close_that_fails_fails_the_call_that_opened_the_instance() {
    let error = runtime().0.build().unwrap().run(unlucky {}).await.unwrap_err();
    assert_eq!(chain(&error), "`unlucky` failed: a toolset could not be closed: unlucky");
}

#[tokio::test]
async fn a_failed_close_is_in_the_journal() {
    let journal = MemoryJournal::new();
    let run = async |journal| runtime().0.journal(journal).build().unwrap().run(forgiving {}).await.unwrap();
    assert!(run(journal.clone()).await);
    let records = journal.records();
    // The run, the count, and the child that counted.
    for count in 3..=records.len() {
        let cut = MemoryJournal::from_records(records[..count].to_vec());
        assert!(run(cut).await, "resumed from {count} records");
    }
}

#[tokio::test]
async fn an_open_that_fails_fails_the_call_and_open_instances_are_closed() {
    let (builder, log) = runtime();
    let error = builder.build().unwrap().run(hopeless {}).await.unwrap_err();
    assert_eq!(chain(&error), "`Broken` failed: no disk");
    assert_eq!(log.all(), ["open hopeless", "close hopeless at 0"]);
}

#[tokio::test]
async fn calls_by_a_shown_name_reach_the_same_instance() {
    let (builder, log) = runtime();
    assert_eq!(builder.build().unwrap().run(by_name {}).await.unwrap(), 2);
    assert_eq!(log.all(), ["open by_name", "close by_name at 2"]);
}

#[tokio::test]
async fn a_worker_keeps_its_instance_over_its_turns() {
    let model = FunctionModel::new(|request: Request<'_>| {
        let turn = request.messages.len() / 2;
        let part = if turn < 2 {
            let arguments = json!({ "text": format!("note {turn}") }).to_string();
            ResponsePart::ToolCall(ToolCall::new(turn.to_string(), "add_note", arguments))
        } else {
            ResponsePart::Text { text: format!("{:?}", request.messages.last().unwrap()) }
        };
        Ok(Response::new("m", vec![part], Usage::of_request(1, 1)))
    });
    let (builder, _) = runtime();
    let runtime = builder.force_model(model).build().unwrap();
    for _ in 0..2 {
        let last = runtime.run(scribe { input: "write".into() }).await.unwrap();
        assert!(last.contains(r#"[\"note 0\",\"note 1\"]"#), "{last}");
    }
}

#[test]
fn methods_can_be_tested_on_a_plain_value() {
    let notes = Notes::default();
    assert_eq!(notes.add_note("a".into()), ["a"]);
    assert_eq!(Counter::describe(), "a counter");
}

#[test]
fn a_type_is_registered_as_a_toolset_of_its_methods() {
    let registry = Registry::collect().unwrap();
    let toolsets: Vec<_> = registry.toolsets().map(|(name, what, members)| (name, what, members.len())).collect();
    assert!(toolsets.contains(&("Counter", "Counts.", 3)), "{toolsets:?}");
    assert!(toolsets.contains(&("notebook", "Notes of one call.", 1)), "{toolsets:?}");
}

#[tokio::test]
async fn state_is_shared_by_all_calls_and_runs_of_a_session() {
    let (builder, log) = runtime();
    let runtime = builder.build().unwrap();
    for runs in [1, 2] {
        runtime.run(parent {}).await.unwrap();
        assert_eq!(log.all().len(), runs * 4, "each run opens and closes two instances, and all write to one log");
    }
}

#[test]
fn missing_state_of_open_is_an_error_when_the_runtime_is_built() {
    let error = crate::own_builder().build().unwrap_err().to_string();
    assert!(error.contains("Log` for `count_and_wait`, `count_up`, `describe`"), "{error}");
}
