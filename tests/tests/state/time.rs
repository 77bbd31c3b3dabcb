//! Timeouts of calls: which call is stopped, whose time counts, and who sees the error. Tokio's clock is paused.

use std::future::pending;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision};
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use llm_do::{Limits, Value, json};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

/// Notes in the order of the events.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn all(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

/// Notes when it is dropped.
struct Dropped(Log);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

/// Wait for ever.
#[tool(effect = read_only, timeout = "30s")]
async fn dawdle(log: State<Log>) {
    let _dropped = Dropped(Log::clone(&log));
    pending::<()>().await;
}

/// Wait for ever, without a timeout.
#[tool(effect = read_only)]
async fn hang() {
    pending::<()>().await;
}

/// Wait for ever, with a timeout of an hour.
#[tool(effect = read_only, timeout = HOUR)]
async fn hang_for_an_hour() {
    pending::<()>().await;
}

/// Finish just before the timeout.
#[tool(effect = destructive, timeout = Duration::from_secs(2))]
async fn be_quick() -> String {
    tokio::time::sleep(SECOND).await;
    "done".to_owned()
}

/// Signals of the tool `block`.
struct Blocked {
    started: mpsc::Sender<()>,
    finished: mpsc::Sender<()>,
}

/// Block a thread until the call is cancelled.
#[tool(effect = read_only, timeout = "5s")]
fn block(ctx: &CallContext, blocked: State<Mutex<Blocked>>) -> Result<()> {
    let blocked = blocked.lock().map_err(|error| error.to_string())?;
    blocked.started.send(())?;
    while !ctx.is_cancelled() {
        std::thread::yield_now();
    }
    Ok(blocked.finished.send(())?)
}

struct Desk(Log);

/// A desk.
#[tool]
impl Desk {
    fn open(log: State<Log>) -> Self {
        log.note("open");
        Self(Log::clone(&log))
    }

    /// Fall asleep at the desk.
    #[tool(effect = read_only, timeout = "1s")]
    async fn sleep_at_desk(&self) {
        let _dropped = Dropped(self.0.clone());
        pending::<()>().await;
    }

    async fn close(self) {
        self.0.note("close");
    }
}

/// Sleeps for ever.
#[entry(timeout = "10s")]
async fn sleep_for_ever(ctx: &CallContext) -> Result<()> {
    Ok(ctx.sleep(Duration::MAX).await?)
}

/// Calls a tool by name, with a timeout of ten seconds.
#[entry(timeout = "10s", toolsets = [hang, hang_for_an_hour, answer, answer_for_an_hour, render, be_quick, inquire])]
async fn ten_seconds(ctx: &CallContext<ten_seconds>, what: String) -> Result<Value> {
    Ok(ctx.call_tool(&what, json!({})).await?)
}

/// Waits at a desk.
#[entry(toolsets = [Desk], timeout = Duration::from_millis(500))]
async fn wait_at_desk(ctx: &CallContext<wait_at_desk>) -> Result<()> {
    Ok(ctx.call(sleep_at_desk {}).await?)
}

/// Sleeps at a desk.
#[entry(toolsets = [Desk])]
async fn desk_work(ctx: &CallContext<desk_work>) -> Result<()> {
    Ok(ctx.call(sleep_at_desk {}).await?)
}

/// Answer with the help of tools that take too long.
#[worker(toolsets = [dawdle, hang])]
async fn answer() -> String;

/// Answer within an hour.
#[worker(toolsets = [hang_for_an_hour], timeout = "1h")]
async fn answer_for_an_hour() -> String;

/// Answer soon, as the limits require.
#[worker(toolsets = [hang_for_an_hour], limits = Limits::new().wall_time(SECOND), timeout = HOUR)]
async fn answer_soon() -> String;

/// Wait in the worker's own body.
#[worker(timeout = "1m")]
async fn render() -> String {
    pending::<String>().await
}

/// Calls the first tool of the request, and answers with its result.
fn calls_a_tool(request: Request<'_>) -> Response {
    let parts = if let Some(Message::Tool { results }) = request.messages.last() {
        vec![ResponsePart::Text { text: results[0].content.clone() }]
    } else {
        let name = request.tools[0].name.to_string();
        vec![ResponsePart::ToolCall(ToolCall::new("1", name, "{}"))]
    };
    Response::new("test:function", parts, Usage::default())
}

fn builder() -> RuntimeBuilder {
    let model = FunctionModel::new(|request| Ok(calls_a_tool(request)));
    let (started, finished) = (mpsc::channel().0, mpsc::channel().0);
    let blocked = Mutex::new(Blocked { started, finished });
    crate::own_builder().approval_mode(ApprovalMode::ApproveAll).force_model(model).state(Log::default()).state(blocked)
}

/// Runs an item until it times out; returns the item with the timeout, the timeout, and the time elapsed.
async fn stopped(runtime: &Runtime, name: &str, arguments: Value) -> (String, Duration, Duration) {
    let start = Instant::now();
    let error = runtime.run_named(name, arguments).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    let (tool, after) = timeout_in(&error).unwrap();
    (tool, after, start.elapsed())
}

/// Finds the timeout that is the cause of an error.
fn timeout_in(error: &(dyn std::error::Error + 'static)) -> Option<(String, Duration)> {
    match error.downcast_ref() {
        Some(CallError::Timeout { tool, after }) => Some((tool.clone(), *after)),
        _ => timeout_in(error.source()?),
    }
}

/// Rounds down to seconds, since timers may add milliseconds.
fn whole(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_stopped_and_dropped() {
    let log = Log::default();
    let runtime = builder().state(log.clone()).build().unwrap();
    let (tool, after, elapsed) = stopped(&runtime, "dawdle", json!({})).await;
    assert_eq!((tool.as_str(), after, whole(elapsed)), ("dawdle", SECOND * 30, SECOND * 30));
    assert_eq!(log.all(), ["dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finishes_in_time_is_not_stopped() {
    assert_eq!(builder().build().unwrap().run(be_quick {}).await.unwrap(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_tools_timeout_is_returned_to_the_model_which_continues() {
    let start = Instant::now();
    let answer = builder().build().unwrap().run(answer {}).await.unwrap();
    assert_eq!(answer, "`dawdle` timed out after 30s");
    assert_eq!(whole(start.elapsed()), SECOND * 30);
}

#[tokio::test(start_paused = true)]
async fn a_callers_timeout_stops_a_nested_call_with_a_longer_timeout() {
    let recorder = Recorder::new();
    let runtime = builder().sink(recorder.clone()).build().unwrap();
    for what in ["hang", "hang_for_an_hour", "answer", "answer_for_an_hour", "render"] {
        let (tool, after, elapsed) = stopped(&runtime, "ten_seconds", json!({ "what": what })).await;
        assert_eq!((tool.as_str(), after, whole(elapsed)), ("ten_seconds", SECOND * 10, SECOND * 10), "{what}");
    }
    let kinds = recorder.kinds();
    let started = kinds.iter().filter(|kind| matches!(kind, EventKind::CallStarted { .. })).count();
    let finished = kinds.iter().filter(|kind| matches!(kind, EventKind::CallFinished { .. })).count();
    assert_eq!((started, finished), (12, 12), "each started call is reported as finished");
}

#[tokio::test(start_paused = true)]
async fn a_worker_whose_timeout_is_used_up_by_a_tool_does_not_ask_its_model_again() {
    let requests = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&requests);
    let model = FunctionModel::new(move |request| {
        *counted.lock().unwrap() += 1;
        Ok(calls_a_tool(request))
    });
    let runtime = builder().force_model(model).build().unwrap();
    let (tool, after, elapsed) = stopped(&runtime, "answer_for_an_hour", json!({})).await;
    assert_eq!((tool.as_str(), after, whole(elapsed)), ("answer_for_an_hour", HOUR, HOUR));
    assert_eq!(*requests.lock().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_worker_includes_its_body() {
    let (tool, _, elapsed) = stopped(&builder().build().unwrap(), "render", json!({})).await;
    assert_eq!((tool.as_str(), whole(elapsed)), ("render", SECOND * 60));
}

#[tokio::test(start_paused = true)]
async fn the_shorter_of_a_workers_timeout_and_its_wall_time_limit_applies() {
    let (tool, after, elapsed) = stopped(&builder().build().unwrap(), "answer_soon", json!({})).await;
    assert_eq!((tool.as_str(), after, whole(elapsed)), ("answer_soon", SECOND, SECOND));
    let limited = builder().worker_limits("answer_soon", Limits::new().wall_time(SECOND * 3)).build().unwrap();
    assert_eq!(stopped(&limited, "answer_soon", json!({})).await.1, SECOND * 3, "the session's limits win");
}

#[tokio::test(start_paused = true)]
async fn a_run_is_stopped_after_the_wall_time_limit_of_the_session() {
    let runtime = builder().limits(Limits::new().wall_time(SECOND * 4)).build().unwrap();
    for name in ["hang", "dawdle", "answer", "answer_for_an_hour"] {
        let (tool, after, elapsed) = stopped(&runtime, name, json!({})).await;
        assert_eq!(
            (tool.as_str(), after, whole(elapsed)),
            (name, SECOND * 4, SECOND * 4),
            "the limit applies to each run"
        );
    }
}

#[tokio::test]
async fn invalid_limits_and_timeouts_are_reported_when_the_runtime_is_built() {
    let limits = || Limits::new().requests(1);
    let invalid =
        builder().worker_limits("answr_soon", limits()).worker_limits("hang", limits()).timeout("dawdel", SECOND);
    let error = invalid.timeout("hang", Duration::ZERO).build().unwrap_err().to_string();
    let faults = [
        "`timeout`: the timeout of `hang` is 0; it must be longer than 0",
        "`timeout`: unknown name `dawdel`; did you mean `dawdle`?",
        "`worker_limits`: `hang` is of kind `tool`, not `worker`; set the limits of the run instead",
        "`worker_limits`: unknown name `answr_soon`; did you mean `answer_soon`?",
    ];
    assert_eq!(error, format!("invalid limits or timeouts:\n  {}", faults.join("\n  ")));
    let created_later = builder().worker_limits("poet", limits()).timeout("llm_ask", SECOND);
    assert!(created_later.build().is_ok(), "a worker with another name may be created later");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_the_session_takes_precedence() {
    for (seconds, name) in [(2, "dawdle"), (90, "dawdle"), (3, "hang"), (4, "render")] {
        let runtime = builder().timeout(name, SECOND * seconds).build().unwrap();
        let (tool, after, elapsed) = stopped(&runtime, name, json!({})).await;
        assert_eq!((tool.as_str(), after, whole(elapsed)), (name, SECOND * seconds, SECOND * seconds));
    }
}

#[tokio::test(start_paused = true)]
async fn instances_are_closed_when_a_call_times_out() {
    for (entry, tool_with_timeout, after) in
        [("desk_work", "sleep_at_desk", 1000), ("wait_at_desk", "wait_at_desk", 500)]
    {
        let log = Log::default();
        let runtime = builder().state(log.clone()).build().unwrap();
        let (tool, own, _) = stopped(&runtime, entry, json!({})).await;
        assert_eq!((tool.as_str(), own), (tool_with_timeout, Duration::from_millis(after)));
        assert_eq!(log.all(), ["open", "dropped", "close"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_does_not_wait_for_a_blocking_tool_and_cancels_its_context() {
    let ((started, has_started), (finished, has_finished)) = (mpsc::channel(), mpsc::channel());
    let runtime = builder().state(Mutex::new(Blocked { started, finished })).build().unwrap();
    let call = stopped(&runtime, "block", json!({}));
    let time = async {
        // The paused clock does not advance while a thread is blocked.
        while has_started.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        tokio::time::advance(SECOND * 6).await;
    };
    let ((tool, after, _), ()) = tokio::join!(call, time);
    assert_eq!((tool.as_str(), after), ("block", SECOND * 5));
    has_finished.recv_timeout(HOUR).unwrap();
}

/// Takes an hour to decide.
async fn in_an_hour(_: ApprovalRequest) -> Decision {
    tokio::time::sleep(HOUR).await;
    Decision::approve()
}

/// Calls a tool that needs approval.
#[entry(toolsets = [be_quick])]
async fn patient(ctx: &CallContext<patient>) -> Result<String> {
    Ok(ctx.call(be_quick {}).await?)
}

/// Ask the user three times, and work for a second after each answer.
#[tool(effect = read_only, timeout = "4s")]
async fn inquire(ctx: &CallContext) -> Result<()> {
    for _ in 0..3 {
        ctx.request_user_input("Who is it?").await?;
        tokio::time::sleep(SECOND).await;
    }
    Ok(())
}

/// Answers after an hour.
#[derive(Debug)]
struct Slow;

#[llm_do::async_trait]
impl InputHandler for Slow {
    async fn answer(&self, _: &InputRequest) -> std::result::Result<String, BoxError> {
        tokio::time::sleep(HOUR).await;
        Ok("me".into())
    }
}

/// Returns a builder of runtimes whose user decides and answers after an hour, in runs of ten seconds.
fn slow_user(journal: Option<MemoryJournal>) -> RuntimeBuilder {
    let builder = builder().approval_mode(ApprovalMode::Prompt).approve_with(in_an_hour).input_handler(Slow);
    journal.into_iter().fold(builder.limits(Limits::new().wall_time(SECOND * 10)), RuntimeBuilder::journal)
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_person_counts_towards_no_timeout() {
    for journal in [None, Some(MemoryJournal::new())] {
        let runtime = slow_user(journal).build().unwrap();
        let start = Instant::now();
        assert_eq!(runtime.run(patient {}).await.unwrap(), "done");
        assert!(start.elapsed() > HOUR);
        let start = Instant::now();
        let approved = runtime.run_named("ten_seconds", json!({ "what": "be_quick" })).await;
        assert_eq!(approved.unwrap(), "done");
        runtime.run_named("ten_seconds", json!({ "what": "inquire" })).await.unwrap();
        assert!(start.elapsed() > HOUR * 4);
    }
}

/// Asks the user, then works for ever.
#[entry(timeout = "5s")]
async fn ask_then_hang(ctx: &CallContext) -> Result<()> {
    ctx.request_user_input("Who is it?").await?;
    pending().await
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_goes_on_after_the_answer_of_a_person() {
    let runtime = slow_user(None).build().unwrap();
    let (tool, after, elapsed) = stopped(&runtime, "ask_then_hang", json!({})).await;
    assert_eq!((tool.as_str(), after, whole(elapsed)), ("ask_then_hang", SECOND * 5, HOUR + SECOND * 5));
}

/// Calls a tool that takes too long beside one that waits for approval; returns after how many seconds it was stopped.
#[entry(toolsets = [dawdle, be_quick], timeout = "1m")]
async fn beside(ctx: &CallContext<beside>) -> Result<u64> {
    let start = Instant::now();
    let late = async {
        let error = ctx.call(dawdle {}).await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        start.elapsed().as_secs()
    };
    let (after, quick) = tokio::join!(late, ctx.call(be_quick {}));
    quick?;
    Ok(after)
}

#[tokio::test(start_paused = true)]
async fn a_call_beside_one_that_waits_for_a_person_is_stopped_in_time() {
    let runtime = builder().approval_mode(ApprovalMode::Prompt).approve_with(in_an_hour).build().unwrap();
    assert_eq!(runtime.run(beside {}).await.unwrap(), 30);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_in_a_worker_file_applies() {
    let (tool, after, elapsed) = stopped(&builder().build().unwrap(), "timed", json!({})).await;
    assert_eq!((tool.as_str(), after, whole(elapsed)), ("timed", SECOND * 90, SECOND * 90));
}

/// Has a timeout in its file.
#[worker(file = "timed.worker")]
async fn timed() -> String;

/// Has limits in its file.
#[worker(file = "limited.worker")]
async fn limited() -> String;

#[tokio::test(start_paused = true)]
async fn the_limits_in_a_worker_file_apply() {
    let (tool, after, _) = stopped(&builder().build().unwrap(), "limited", json!({})).await;
    assert_eq!((tool.as_str(), after), ("limited", SECOND * 20));

    let quick = FunctionModel::new(|request| Ok(calls_a_tool(request)));
    let runtime = builder().force_model(quick).timeout("hang", SECOND).build().unwrap();
    let error = runtime.run(limited {}).await.unwrap_err();
    let CallError::Limit { tool, exceeded } = &error else { panic!("{error:?}") };
    assert!(tool == "limited" && exceeded.to_string().starts_with("`requests` is limited to 1"), "{exceeded}");
}

#[tokio::test(start_paused = true)]
async fn the_timeout_stops_a_sleep_of_any_length() {
    for journal in [None, Some(MemoryJournal::new())] {
        let builder = crate::own_builder().state(Log::default());
        let builder = journal.into_iter().fold(builder, RuntimeBuilder::journal);
        let (gate, _) = mpsc::channel();
        let blocked = Mutex::new(Blocked { started: gate.clone(), finished: gate });
        let error = builder.state(blocked).build().unwrap().run(sleep_for_ever {}).await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
    }
}
