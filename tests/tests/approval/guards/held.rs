//! Guards that panic, wait, or call.

use std::time::Duration;

use llm_do::context::CancellationToken;
use llm_do::event::{Caller, EventKind, GuardAction, GuardHook, ItemKind};
use llm_do::guard::{FunctionGuard, Guard, GuardedCall, Refusal};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, TestModel};
use llm_do::{Limits, async_trait};
use serde_json::json;

use super::{Notes, builder, done, main_entry, noting, read, reader};

/// Judge a text.
#[worker(instructions = "Say whether it is bad.")]
async fn judge(text: String) -> bool;

/// Asks a model about each result, with an undeclared worker.
#[derive(Debug)]
struct Judged;

#[async_trait]
impl Guard for Judged {
    fn name(&self) -> &'static str {
        "judged"
    }

    async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: &mut Result<ToolReturn, CallError>,
    ) -> Result<(), Refusal> {
        if let (Ok(returned), ItemKind::Tool) = (result, call.kind()) {
            let is_bad = call.ctx().call(judge { text: returned.value().to_string() }).await?;
            call.ctx().llm_ask("Are you sure?").await?;
            call.ctx().progress(format!("is it bad? {is_bad}"));
        }
        Ok(())
    }
}

/// Never decides.
#[derive(Debug)]
struct Waiting;

#[async_trait]
impl Guard for Waiting {
    fn name(&self) -> &'static str {
        "waiting"
    }

    async fn before_call(&self, _: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_panic_in_any_hook_is_a_refusal_with_the_reason() {
    let new = || FunctionGuard::new("broken");
    let guards = [
        (GuardHook::BeforeCall, new().before_call(|_| panic!("oh no"))),
        (GuardHook::AfterCall, new().after_call(|_, _| panic!("oh no"))),
        (GuardHook::BeforeRequest, new().before_request(|_| panic!("oh no"))),
        (GuardHook::AfterResponse, new().after_response(|_, _| panic!("oh no"))),
    ];
    for (hook, guard) in guards {
        let recorder = Recorder::new();
        let model = TestModel::new().call_tools(false);
        let runtime = builder().force_model(model).guard(guard).sink(recorder.clone()).build().unwrap();
        let error = runtime.run(reader { input: "x".into() }).await.unwrap_err();
        assert_eq!(error.to_string(), "the guard `broken` refused `reader`: the guard panicked: oh no");
        assert!(matches!(error, CallError::Refused { stops: true, .. }));
        assert_eq!(done(&recorder), [(hook, GuardAction::Refused, Some("the guard panicked: oh no".into()))]);
    }
}

#[tokio::test]
async fn calls_by_a_guard_are_unguarded_undeclared_and_count_as_its_callers() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let runtime = builder().force_model(TestModel::new()).guard(noting("g", &notes)).guard(Judged);
    let runtime = runtime.sink(recorder.clone()).build().unwrap();
    let start = runtime.start(main_entry { path: "a".into() });
    let handle = start.handle();
    start.await.unwrap();
    assert_eq!(notes.take(), ["g before main_entry", "g before read", "g after read", "g after main_entry"]);
    let called = recorder.events().into_iter().filter_map(|event| match event.kind {
        EventKind::CallStarted { by, .. } => Some((event.name.to_string(), event.parent, by)),
        _ => None,
    });
    let called = called.collect::<Vec<_>>();
    let code = |name: &str| (name.to_owned(), Some(0), Caller::Code);
    assert_eq!(called, [("main_entry".to_owned(), None, Caller::User), code("read"), code("judge"), code("llm_ask")]);
    assert_eq!((handle.usage().model.requests, handle.usage().tool_calls), (2, 3));
    let told = |kind: &EventKind| matches!(kind, EventKind::Progress { text } if text == "is it bad? false");
    assert!(recorder.kinds().iter().any(told));
}

#[tokio::test]
async fn a_worker_that_a_guard_calls_is_held_to_its_own_toolsets() {
    let guard = OnWorker(json!({ "input": "x" }));
    let model =
        super::scripted(&Notes::default(), [super::calling("main_entry", &json!({ "path": "a" })), super::text("so")]);
    let recorder = Recorder::new();
    let runtime = builder().force_model(model).guard(guard).sink(recorder.clone()).build().unwrap();
    runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap();
    let refused = |kind: &EventKind| matches!(kind, EventKind::CallRefused { error, .. } if error.contains("unknown tool `main_entry`"));
    assert!(recorder.kinds().iter().any(refused));
}

/// Calls the reader before each tool.
#[derive(Debug)]
struct OnWorker(serde_json::Value);

#[async_trait]
impl Guard for OnWorker {
    fn name(&self) -> &'static str {
        "on_worker"
    }

    async fn before_call(&self, call: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        call.ctx().call_tool("reader", self.0.clone()).await?;
        Ok(())
    }
}

#[tokio::test]
async fn a_failed_call_by_a_guard_is_a_refusal() {
    let runtime = builder().guard(OnWorker(json!({ "input": 1 }))).build().unwrap();
    let error = runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the guard `on_worker` refused `read`: invalid arguments for `reader`"), "{text}");
}

#[tokio::test]
async fn a_guard_that_waits_is_dropped_when_the_run_is_cancelled() {
    let token = CancellationToken::new();
    let runtime = builder().guard(Waiting).cancellation(token.clone()).build().unwrap();
    let (result, ()) = tokio::join!(runtime.run(read { path: "a".into(), lines: 1 }), async {
        tokio::task::yield_now().await;
        token.cancel();
    });
    assert!(result.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_guard_that_waits_is_dropped_when_the_run_times_out() {
    let limits = Limits::new().wall_time(Duration::from_millis(1));
    let runtime = builder().guard(Waiting).limits(limits).build().unwrap();
    assert!(runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn a_guard_sees_that_a_call_timed_out() {
    /// Take for ever.
    #[tool(effect = read_only)]
    async fn endless() -> u8 {
        std::future::pending().await
    }
    let guard = FunctionGuard::new("default").after_call(|_, result| {
        if result.as_ref().is_err_and(CallError::is_timeout) {
            *result = Ok(json!(0).into());
        }
        Ok(())
    });
    let runtime = builder().guard(guard).timeout("endless", Duration::from_millis(1)).build().unwrap();
    assert_eq!(runtime.run(endless {}).await.unwrap(), 0);
}
