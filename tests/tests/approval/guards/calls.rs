//! Before and after calls.

use llm_do::Effect;
use llm_do::approval::{ApprovalRequest, Approver, Decision};
use llm_do::context::SubtaskRequest;
use llm_do::error::chain;
use llm_do::event::{Caller, EventKind, GuardAction, GuardHook, ItemKind, Outcome, Terminal, Verbosity};
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::prelude::*;
use llm_do::testing::{Recorder, TestModel};
use llm_do::worker::WorkerSpec;
use serde_json::{Value, json};

use super::{Notes, builder, calling, done, main_entry, noting, read, reader, scripted, text, write};

/// Calls in every way.
#[entry]
async fn every_way(ctx: &CallContext) -> Result<()> {
    ctx.call(reader { input: "typed".into() }).await?;
    ctx.call_tool("read", json!({ "path": "named" })).await?;
    ctx.llm_ask("asked").await?;
    ctx.llm_agent(WorkerSpec::new("sub_agent", "put together")).input("inline").await?;
    ctx.subtask(SubtaskRequest::new("summaries of files").input("input", "best")).await?;
    Ok(())
}

/// Sees files by other names.
#[worker(toolsets = [prefixed("fs_", read)], retries = 0)]
async fn prefixed_reader(input: String) -> String;

/// Writes a file.
#[entry(toolsets = [write])]
async fn drafter(ctx: &CallContext<drafter>) -> Result<String> {
    Ok(ctx.call(write { path: "a".into() }).await?)
}

#[derive(Debug)]
struct Asked(Notes);

#[llm_do::async_trait]
impl Approver for Asked {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        self.0.add(request.arguments["path"].as_str().unwrap());
        Decision::Approved
    }
}

/// A guard that replaces the argument `path` by `value`.
fn path_to(value: Value) -> FunctionGuard {
    FunctionGuard::new("paths").before_call(move |call| {
        if call.kind() == ItemKind::Tool {
            call.arguments_mut()["path"] = value.clone();
        }
        Ok(())
    })
}

#[tokio::test]
async fn before_hooks_run_in_order_and_after_hooks_in_reverse() {
    let notes = Notes::default();
    let model = TestModel::new().call_tools(false);
    let runtime = builder().force_model(model).guard(noting("a", &notes)).guard(noting("b", &notes)).build().unwrap();
    runtime.run(reader { input: "x".into() }).await.unwrap();
    let expected = [
        "a before reader",
        "b before reader",
        "a asks for reader",
        "b asks for reader",
        "b hears for reader",
        "a hears for reader",
        "b after reader",
        "a after reader",
    ];
    assert_eq!(notes.take(), expected);
}

#[tokio::test]
async fn guards_run_for_every_kind_of_call_and_caller() {
    let notes = Notes::default();
    let seen = notes.clone();
    let guard = FunctionGuard::new("g").before_call(move |call| {
        let (kind, by, caller) = (call.kind().as_str(), call.by(), call.caller().unwrap_or("none"));
        seen.add(format!("{caller}: {by:?} {kind} {}", call.name()));
        Ok(())
    });
    let runtime = builder().force_model(TestModel::new()).guard(guard).build().unwrap();
    runtime.run(every_way {}).await.unwrap();
    let tools = ["reader: Model tool read", "reader: Model tool write"];
    let expected = [
        &["none: User entry every_way", "every_way: Code worker reader"][..],
        &tools,
        &["every_way: Code tool read", "every_way: Code worker llm_ask", "every_way: Code worker sub_agent"],
        &["every_way: Code worker reader"],
        &tools,
    ];
    assert_eq!(notes.take(), expected.concat());
}

#[tokio::test]
async fn a_guard_sees_decoded_arguments_with_their_defaults() {
    let notes = Notes::default();
    let seen = notes.clone();
    let guard = FunctionGuard::new("g").before_call(move |call| {
        seen.add(format!("{} {:?}", call.arguments(), call.effect()));
        Ok(())
    });
    let runtime = builder().guard(guard).build().unwrap();
    runtime.run_named("read", json!({ "path": "a" })).await.unwrap();
    assert_eq!(notes.take(), [format!("{} {:?}", json!({ "path": "a", "lines": 10 }), Effect::ReadOnly)]);
}

#[tokio::test]
async fn the_guards_arguments_are_approved_reported_and_run() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let model = scripted(&Notes::default(), [calling("write", &json!({ "path": "/etc/passwd" })), text("done")]);
    let runtime = Runtime::builder().approver(Asked(notes.clone())).guard(path_to(json!("safe")));
    let runtime = runtime.force_model(model).sink(recorder.clone()).build().unwrap();
    runtime.run(reader { input: "x".into() }).await.unwrap();
    assert_eq!(notes.take(), ["safe"]);
    let kinds = recorder.kinds();
    let started = |kind: &EventKind| matches!(kind, EventKind::CallStarted { arguments, .. } if *arguments == json!({ "path": "safe" }));
    let finished = |kind: &EventKind| matches!(kind, EventKind::CallFinished { outcome, .. } if *outcome == Outcome::Result(json!("wrote safe").into()));
    assert!(kinds.iter().any(started) && kinds.iter().any(finished), "{kinds:?}");
    assert_eq!(done(&recorder), [(GuardHook::BeforeCall, GuardAction::Changed, None)]);
}

#[tokio::test]
async fn each_guard_gets_the_changes_of_earlier_guards() {
    let notes = Notes::default();
    let seen = notes.clone();
    let second = FunctionGuard::new("second").before_call(move |call| {
        seen.add(call.arguments().to_string());
        Ok(())
    });
    let runtime = builder().guard(path_to(json!("b"))).guard(second).build().unwrap();
    assert_eq!(runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap(), "1 lines of b");
    assert_eq!(notes.take(), [json!({ "path": "b", "lines": 1 }).to_string()]);
}

#[tokio::test]
async fn arguments_that_a_guard_makes_invalid_are_refused_in_its_name() {
    let recorder = Recorder::new();
    let runtime = builder().guard(path_to(json!(7))).sink(recorder.clone()).build().unwrap();
    let error = runtime.run(write { path: "a".into() }).await.unwrap_err();
    assert!(matches!(&error, CallError::Refused { guard, stops: false, .. } if guard == "paths"), "{error}");
    assert!(
        error.to_string().contains("the guard changed the arguments, which are now invalid: ")
            && error.to_string().contains("path"),
        "{error}"
    );
    assert!(!recorder.kinds().iter().any(|kind| matches!(kind, EventKind::CallStarted { .. })));
}

#[tokio::test]
async fn unchanged_arguments_emit_no_event_even_after_arguments_mut() {
    let recorder = Recorder::new();
    let guard = path_to(json!("a")).after_call(|_, _| Ok(()));
    let runtime = builder().guard(guard).sink(recorder.clone()).build().unwrap();
    runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap();
    runtime.run(read { path: "missing".into(), lines: 1 }).await.unwrap();
    let expected = [(GuardHook::BeforeCall, GuardAction::Changed, None)];
    assert_eq!(done(&recorder), expected, "of the second call alone, which asked for another path");
}

#[tokio::test]
async fn a_refused_call_never_starts_and_never_asks_for_approval() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let guard = FunctionGuard::new("no").before_call(|call| match call.name() {
        "write" => Err(Refusal::reject("nothing is written today")),
        _ => Ok(()),
    });
    let model = scripted(&Notes::default(), [calling("write", &json!({ "path": "a" })), text("then not")]);
    let runtime = Runtime::builder().approver(Asked(notes.clone())).guard(guard);
    let runtime = runtime.force_model(model).sink(recorder.clone()).build().unwrap();
    let start = runtime.start(reader { input: "x".into() });
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "then not");
    assert_eq!((notes.take(), handle.usage().tool_calls), (Vec::new(), 0));
    let refused = |kind: &EventKind| matches!(kind, EventKind::CallRefused { by: Caller::Model, error, .. } if error == "the guard `no` refused `write`: nothing is written today");
    assert!(recorder.kinds().iter().any(refused));
    let reason = Some("nothing is written today".to_owned());
    assert_eq!(done(&recorder), [(GuardHook::BeforeCall, GuardAction::Refused, reason)]);
}

#[tokio::test]
async fn each_refusal_reaches_the_model_under_the_name_it_called() {
    let notes = Notes::default();
    let guard = FunctionGuard::new("no").before_call(|call| match call.name() {
        "read" => Err(Refusal::reject("not this one")),
        _ => Ok(()),
    });
    let again = || calling("fs_read", &json!({ "path": "a" }));
    let model = scripted(&notes, [again(), again(), again(), text("given up")]);
    let runtime = builder().force_model(model).guard(guard).build().unwrap();
    assert_eq!(runtime.run(prefixed_reader { input: "x".into() }).await.unwrap(), "given up");
    let asked = notes.take();
    assert_eq!(asked.last().unwrap().matches("the guard `no` refused `fs_read`: not this one").count(), 3);
}

#[tokio::test]
async fn a_refusal_that_stops_ends_the_run_through_the_worker_that_called() {
    let guard = FunctionGuard::new("no").before_call(|call| match call.name() {
        "read" => Err(Refusal::stop("enough")),
        _ => Ok(()),
    });
    let runtime = builder().force_model(TestModel::new()).guard(guard).build().unwrap();
    let error = runtime.run(reader { input: "x".into() }).await.unwrap_err();
    assert!(error.is_refused() && !error.is_recoverable(), "{error}");
    assert_eq!(error.to_string(), "the guard `no` refused `read`: enough");
    let error = runtime.run(main_entry { path: "a".into() }).await.unwrap_err();
    assert!(error.is_refused() && !error.is_recoverable(), "also where code hands it up: {error}");
}

#[tokio::test]
async fn the_caller_and_events_get_the_changed_result() {
    let recorder = Recorder::new();
    let guard = FunctionGuard::new("upper").after_call(|call, result| {
        if let (Ok(returned), Some("main_entry")) = (result, call.caller()) {
            *returned.value_mut() = json!("CHANGED");
        }
        Ok(())
    });
    let runtime = builder().guard(guard).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(main_entry { path: "a".into() }).await.unwrap(), "CHANGED");
    let told = |kind: &EventKind| serde_json::to_string(kind).unwrap().contains("lines of a");
    assert!(!recorder.kinds().iter().any(told), "no event contains what a guard removed");
    assert_eq!(done(&recorder), [(GuardHook::AfterCall, GuardAction::Changed, None)]);
}

#[tokio::test]
async fn a_refused_result_is_an_error_and_guards_further_out_see_it() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let seen = notes.clone();
    let outer = FunctionGuard::new("outer").after_call(move |_, result| {
        seen.add(result.as_ref().unwrap_err().to_string());
        Ok(())
    });
    let inner = FunctionGuard::new("inner").after_call(|_, _| Err(Refusal::reject("secret")));
    let runtime = builder().guard(outer).guard(inner).sink(recorder.clone()).build().unwrap();
    let error = runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap_err();
    assert_eq!(error.to_string(), "the guard `inner` refused `read`: secret");
    assert_eq!(notes.take(), [error.to_string()]);
    let finished = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::CallFinished { outcome, .. } => Some(outcome),
        _ => None,
    });
    assert_eq!(finished, Some(Outcome::Error(error.to_string())));
}

#[tokio::test]
async fn guards_see_failures_and_may_replace_them() {
    let notes = Notes::default();
    let seen = notes.clone();
    let guard = FunctionGuard::new("mend").after_call(move |call, result| {
        let Err(error) = result else { return Ok(()) };
        seen.add(chain(error));
        *result = match call.arguments()["lines"].as_u64() {
            Some(1) => Ok(ToolReturn::text("nothing")),
            _ => Err(CallError::Failed { tool: call.name().to_owned(), source: "gone".into() }),
        };
        Ok(())
    });
    let recorder = Recorder::new();
    let runtime = builder().guard(guard).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(read { path: "missing".into(), lines: 1 }).await.unwrap(), "nothing");
    let error = runtime.run(read { path: "missing".into(), lines: 2 }).await.unwrap_err();
    assert_eq!(chain(&error), "`read` failed: gone");
    assert_eq!(notes.take(), ["`read` failed: no such file"; 2]);
    assert_eq!(
        done(&recorder),
        [(GuardHook::AfterCall, GuardAction::Changed, None), (GuardHook::AfterCall, GuardAction::Changed, None)]
    );
}

#[tokio::test]
async fn after_call_does_not_run_for_a_call_that_never_ran() {
    let notes = Notes::default();
    let refuse = FunctionGuard::new("no").before_call(|_| Err(Refusal::reject("no")));
    let runtime = builder().guard(noting("a", &notes)).guard(refuse).build().unwrap();
    runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap_err();
    runtime.run_named("read", json!({ "path": 1 })).await.unwrap_err();
    assert_eq!(notes.take(), ["a before read"], "arguments that cannot be decoded run no hook");
}

#[tokio::test]
async fn guards_see_an_approvers_edit_before_and_after_the_call() {
    let notes = Notes::default();
    let (before, after) = (notes.clone(), notes.clone());
    let guard = FunctionGuard::new("g").before_call(move |call| {
        before.add(format!("before {}", call.arguments()));
        Ok(())
    });
    let guard = guard.after_call(move |call, _| {
        after.add(format!("after {}", call.arguments()));
        Ok(())
    });
    let runtime = Runtime::builder().guard(guard);
    let runtime = runtime.approve_with(|_| async { Decision::approve_with(json!({ "path": "b" })) }).build().unwrap();
    runtime.run(drafter {}).await.unwrap();
    let of = |path: &str| json!({ "path": path });
    let expected = [format!("before {}", of("a")), format!("before {}", of("b")), format!("after {}", of("b"))];
    assert_eq!(notes.take()[1..4], expected);
}

#[tokio::test]
async fn the_terminal_sink_shows_guard_actions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terminal");
    let sink = Terminal::new(std::fs::File::create(&path).unwrap(), Verbosity::Calls);
    let refuse = FunctionGuard::new("no").after_call(|_, _| Err(Refusal::reject("too long")));
    let runtime = builder().guard(path_to(json!("b"))).guard(refuse).sink(sink).build().unwrap();
    runtime.run(read { path: "a".into(), lines: 1 }).await.unwrap_err();
    runtime.flush().await;
    let shown = std::fs::read_to_string(&path).unwrap();
    assert!(
        shown.contains("paths changed the call of read\n")
            && shown.contains("no refused the result of read: too long\n"),
        "{shown}"
    );
}
