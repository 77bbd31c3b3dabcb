//! Runs that are started under a call of another run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Decision, Policy, Rule};
use llm_do::context::CancellationToken;
use llm_do::event::EventKind;
use llm_do::guard::{FunctionGuard, GuardedRequest};
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Limits, Value};
use serde_json::json;

/// A tool of the application that calls `name` in a runtime of the library.
fn bridge(library: Runtime, name: &'static str) -> FunctionTool {
    let schema = json!({ "type": "object" });
    let tool = FunctionTool::new("bridge", "Cross over.", schema, Effect::ReadOnly, move |ctx, arguments: Value| {
        let library = library.clone();
        async move { Ok(library.start_named(name, arguments).under(&ctx).await?) }
    });
    // What the library's runtime calls is not part of what the tool declares.
    tool.toolsets([] as [&str; 0])
}

/// A runtime of the library: a worker `assistant`, and the tool `change`, which needs approval.
fn library(model: &ScriptedModel) -> RuntimeBuilder {
    let change =
        FunctionTool::new("change", "Change.", json!({ "type": "object" }), Effect::Destructive, |_, _| async {
            Ok("changed by the library")
        });
    let assistant = WorkerSpec::new("assistant", "Assist the library.").toolsets(["change"]);
    Runtime::builder().only([] as [&str; 0]).worker(assistant).tool(change).force_model(model.clone())
}

fn application(library: &Runtime, name: &'static str) -> RuntimeBuilder {
    let assistant = WorkerSpec::new("assistant", "Assist the application.").toolsets(["bridge"]);
    Runtime::builder().only([] as [&str; 0]).worker(assistant).tool(bridge(library.clone(), name))
}

fn hello() -> Value {
    json!({ "input": "Hello" })
}

#[tokio::test]
async fn the_tree_of_calls_is_one_with_one_id_and_one_order() {
    let (outer, inner) = (Recorder::new(), Recorder::new());
    let model = ScriptedModel::new().text("Hi.");
    let library = library(&model).sink(inner.clone()).build().unwrap();
    let runtime = application(&library, "assistant").sink(outer.clone()).build().unwrap();
    let start = runtime.start_named("bridge", hello());
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "Hi.");

    let (all, part) = (outer.events(), inner.events());
    assert!(all.iter().all(|event| Some(&*event.run) == handle.id()));
    assert_eq!(all.iter().map(|event| event.seq).collect::<Vec<_>>(), (0..all.len() as u64).collect::<Vec<_>>());
    let bridge = all.iter().find(|event| &*event.name == "bridge").unwrap().call;
    let below: Vec<_> = all.iter().filter(|event| event.parent == Some(bridge)).cloned().collect();
    assert!(below.iter().all(|event| &*event.name == "assistant" && event.depth == 1), "{below:?}");
    assert!(below.iter().any(|event| matches!(event.kind, EventKind::CallFinished { .. })));
    assert_eq!(part, below, "the library's sink gets the library's part");
}

#[tokio::test]
async fn what_it_uses_counts_for_the_callers_and_their_limits_hold() {
    let model = ScriptedModel::new().text("Hi.").text("Hi.");
    let library = library(&model).build().unwrap();
    let runtime = application(&library, "assistant").build().unwrap();
    let start = runtime.start_named("bridge", hello());
    let handle = start.handle();
    start.await.unwrap();
    assert_eq!(handle.usage().model.requests, 1);

    let limits = Limits::new().requests(0);
    let error = runtime.start_named("bridge", hello()).limits(limits).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("request"), "{error}");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn its_own_limits_hold_too() {
    let library = library(&ScriptedModel::new()).limits(Limits::new().requests(0)).build().unwrap();
    let error = application(&library, "assistant").build().unwrap().run_named("bridge", hello()).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("request"), "{error}");
}

#[tokio::test]
async fn the_callers_approver_decides_by_the_rules_of_the_runtime() {
    for (policy, expected) in [(Policy::new(), 1), (Policy::new().tool("change", Rule::PreApproved), 0)] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        let library = library(&ScriptedModel::new()).policy(policy).approval_mode(ApprovalMode::ApproveAll);
        let builder = application(&library.build().unwrap(), "change").approve_with(move |request| {
            seen.lock().unwrap().push(request.path.clone());
            std::future::ready(Decision::approve())
        });
        let runtime = builder.build().unwrap();
        assert_eq!(runtime.run_named("bridge", json!({})).await.unwrap(), "changed by the library");
        assert_eq!(asked.lock().unwrap().len(), expected);
    }
}

#[tokio::test]
async fn a_mode_of_the_caller_denies_what_the_library_would_approve() {
    let library = library(&ScriptedModel::new()).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    let runtime = application(&library, "change").approval_mode(ApprovalMode::RejectAll).build().unwrap();
    assert!(runtime.run_named("bridge", json!({})).await.unwrap_err().is_denied());
}

#[tokio::test]
async fn an_approval_for_the_session_does_not_hold_for_a_namesake_in_the_library() {
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    let library = library(&ScriptedModel::new()).build().unwrap();
    let own = FunctionTool::new("change", "Change.", json!({ "type": "object" }), Effect::Destructive, |_, _| async {
        Ok("changed by the application")
    });
    let both = FunctionTool::new("both", "Both.", json!({ "type": "object" }), Effect::ReadOnly, |ctx, _| async move {
        let own = ctx.call_tool("change", json!({})).await?;
        Ok(json!([own, ctx.call_tool("bridge", json!({})).await?]))
    });
    let builder = application(&library, "change").tool(own).tool(both).approve_with(move |_| {
        *count.lock().unwrap() += 1;
        std::future::ready(Decision::approve_for_session())
    });
    let runtime = builder.build().unwrap();
    for _ in 0..2 {
        let changed = runtime.run_named("both", json!({})).await.unwrap();
        assert_eq!(changed, json!(["changed by the application", "changed by the library"]));
    }
    assert_eq!(*asked.lock().unwrap(), 2, "each is asked about once");
}

#[tokio::test]
async fn a_worker_may_call_its_namesake_in_a_library() {
    let inner = ScriptedModel::new().text("Hi from the library.");
    let library = library(&inner).build().unwrap();
    let outer = ScriptedModel::new().call("bridge", hello()).text("Done.");
    let builder = application(&library, "assistant").force_model(outer.clone());
    let runtime = builder.approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    assert_eq!(runtime.run_named("assistant", hello()).await.unwrap(), "Done.");
    assert_eq!(outer.requests()[1].last_text(), "Hi from the library.");
    assert!(inner.requests()[0].instructions.contains("library"));
}

#[tokio::test]
async fn a_library_that_calls_back_without_end_is_stopped_by_the_depth() {
    let runtime: Arc<std::sync::OnceLock<Runtime>> = Arc::default();
    let own = Arc::clone(&runtime);
    let again =
        FunctionTool::new("again", "Call back.", json!({ "type": "object" }), Effect::ReadOnly, move |ctx, _| {
            let own = Arc::clone(&own);
            async move {
                let Some(runtime) = own.get() else { return Err("not built".into()) };
                Ok(runtime.start_named("again", json!({})).under(&ctx).await?)
            }
        });
    let built = Runtime::builder().only([] as [&str; 0]).tool(again).build().unwrap();
    let error = runtime.get_or_init(|| built).run_named("again", json!({})).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("nesting limit 300"), "{}", llm_do::error::chain(&error));
}

#[tokio::test]
async fn a_run_under_a_run_of_the_same_runtime_sends_each_event_once() {
    let recorder = Recorder::new();
    let built: Arc<std::sync::OnceLock<Runtime>> = Arc::default();
    let own = Arc::clone(&built);
    let leaf = FunctionTool::new("leaf", "Be.", json!({ "type": "object" }), Effect::ReadOnly, |_, _| async { Ok(1) });
    let root = FunctionTool::new("root", "Call.", json!({ "type": "object" }), Effect::ReadOnly, move |ctx, _| {
        let own = Arc::clone(&own);
        async move {
            let Some(runtime) = own.get() else { return Err("not built".into()) };
            Ok(runtime.start_named("leaf", json!({})).under(&ctx).await?)
        }
    });
    let builder = Runtime::builder().only([] as [&str; 0]).tool(leaf).tool(root).sink(recorder.clone());
    let runtime = builder.build().unwrap();
    drop(built.set(runtime.clone()));
    runtime.run_named("root", json!({})).await.unwrap();
    let events = recorder.events();
    let numbers: BTreeSet<_> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers.len(), events.len());
    assert!(events.iter().any(|event| &*event.name == "leaf"));
}

#[tokio::test]
async fn guards_of_the_caller_see_its_requests_before_its_own() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let guard = |name: &'static str| {
        let order = Arc::clone(&order);
        FunctionGuard::new(name).before_request(move |_: &mut GuardedRequest<'_>| {
            order.lock().unwrap().push(name);
            Ok(())
        })
    };
    let model = ScriptedModel::new().text("Hi.");
    let library = library(&model).guard(guard("library")).build().unwrap();
    let runtime = application(&library, "assistant").guard(guard("application")).build().unwrap();
    runtime.run_named("bridge", hello()).await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["application", "library"]);
}

#[tokio::test]
async fn a_resumed_run_replays_it_from_the_callers_journal() {
    let (journal, model) = (MemoryJournal::new(), ScriptedModel::new().text("Hi."));
    let library = library(&model).build().unwrap();
    for _ in 0..2 {
        let runtime = application(&library, "assistant").journal(journal.clone()).build().unwrap();
        assert_eq!(runtime.run_named("bridge", hello()).await.unwrap(), "Hi.");
    }
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn the_caller_or_its_own_handle_cancels_it() {
    let entered = Arc::new(tokio::sync::Notify::new());
    for cancels_caller in [true, false] {
        let signal = Arc::clone(&entered);
        let wait = FunctionTool::new("wait", "Wait.", json!({ "type": "object" }), Effect::ReadOnly, move |_, _| {
            let signal = Arc::clone(&signal);
            async move {
                signal.notify_one();
                std::future::pending::<()>().await;
                Ok(())
            }
        });
        let library = Runtime::builder().only([] as [&str; 0]).tool(wait).build().unwrap();
        let own = CancellationToken::new();
        let token = own.clone();
        let schema = json!({ "type": "object" });
        let outer = FunctionTool::new("outer", "Call.", schema, Effect::ReadOnly, move |ctx, _| {
            let start = library.start_named("wait", json!({})).cancellation(token.clone()).under(&ctx);
            async move { Ok(start.await.is_err()) }
        });
        let runtime = Runtime::builder().only([] as [&str; 0]).tool(outer).build().unwrap();
        let start = runtime.start_named("outer", json!({}));
        let handle = start.handle();
        let running = tokio::spawn(start.into_future());
        entered.notified().await;
        if cancels_caller {
            handle.cancel();
        } else {
            own.cancel();
        }
        let result = tokio::time::timeout(Duration::from_secs(60), running).await.unwrap().unwrap();
        assert_eq!(result.unwrap(), true, "the caller gets the error");
    }
}

#[tokio::test]
async fn a_worker_continues_a_history_under_another_run() {
    let model = ScriptedModel::new().text("You are Ann.");
    let library = library(&model).build().unwrap();
    let schema = json!({ "type": "object" });
    let outer = FunctionTool::new("outer", "Call.", schema, Effect::ReadOnly, move |ctx, _| {
        let library = library.clone();
        async move {
            let earlier = vec![llm_do::model::Message::user("I am Ann.")];
            let start = library.start_named("assistant", json!({ "input": "Who am I?" }));
            let start = start.history(earlier.into()).under(&ctx);
            let handle = start.handle();
            start.await?;
            Ok(handle.history().messages().len())
        }
    });
    let runtime = Runtime::builder().only([] as [&str; 0]).tool(outer).build().unwrap();
    assert_eq!(runtime.run_named("outer", json!({})).await.unwrap(), 3);
    assert_eq!(model.requests()[0].messages.len(), 2);
}
