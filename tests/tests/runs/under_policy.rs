//! The policy, the mode and the limits of a caller, in runs of other runtimes under its calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Decision, Policy, Rule, WorkerRule};
use llm_do::model::{Profile, ServerSideTool};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Limits, Value};
use serde_json::json;

/// What ran in a library.
type Ran = Arc<Mutex<Vec<String>>>;

/// How a library tries to allow more than its caller.
const WAYS: [&str; 5] = ["as it is", "a mode of the start", "an approver of the start", "both", "a run between"];

fn schema() -> Value {
    json!({ "type": "object" })
}

/// A tool that notes its name and arguments.
fn noting(name: &'static str, ran: &Ran) -> FunctionTool {
    let ran = Arc::clone(ran);
    FunctionTool::new(name, "Change.", schema(), Effect::Destructive, move |_, arguments: Value| {
        ran.lock().unwrap().push(format!("{name} {arguments}"));
        async { Ok("changed") }
    })
}

/// A library that allows everything: by its mode, its policy and its approver.
fn library(ran: &Ran) -> RuntimeBuilder {
    let worker = WorkerSpec::new("worker", "Work.").toolsets(["change"]);
    let model = ScriptedModel::new().call("change", json!({ "by": "model" })).text("Done.");
    let policy = Policy::new().tool("change", Rule::PreApproved).tool("worker", Rule::PreApproved);
    let builder = Runtime::builder().only([] as [&str; 0]).tool(noting("change", ran)).worker(worker);
    let builder = builder.policy(policy).approval_mode(ApprovalMode::ApproveAll).force_model(model);
    builder.approve_with(|_| std::future::ready(Decision::approve_for_session()))
}

/// Runs a tool or worker of the library under a call.
async fn run(library: &Runtime, ctx: &CallContext, call: (&str, Value), way: &str) -> Result<Value, CallError> {
    let start = library.start_named(call.0, call.1).under(ctx);
    let yes = |_| std::future::ready(Decision::approve_for_session());
    match way {
        "a mode of the start" => start.approval_mode(ApprovalMode::ApproveAll).await,
        "an approver of the start" => start.approve_with(yes).await,
        "both" => start.approval_mode(ApprovalMode::ApproveAll).approve_with(yes).await,
        _ => start.await,
    }
}

/// An application whose tool `bridge` runs `call` of the library.
fn application(ran: &Ran, library: Runtime, call: (&'static str, Value), way: &'static str) -> RuntimeBuilder {
    let bridge = FunctionTool::new("bridge", "Cross.", schema(), Effect::ReadOnly, move |ctx, _: Value| {
        let (library, call) = (library.clone(), call.clone());
        async move {
            if way != "a run between" {
                return Ok(run(&library, &ctx, call, way).await?);
            }
            let inner = FunctionTool::new("inner", "Cross again.", schema(), Effect::ReadOnly, move |ctx, _: Value| {
                let (library, call) = (library.clone(), call.clone());
                async move { Ok(run(&library, &ctx, call, "both").await?) }
            });
            let inner = inner.toolsets([] as [&str; 0]);
            let between = Runtime::builder().only([] as [&str; 0]).tool(inner).approval_mode(ApprovalMode::ApproveAll);
            Ok(run(&between.build()?, &ctx, ("inner", json!({})), "both").await?)
        }
    });
    let bridge = bridge.toolsets([] as [&str; 0]);
    Runtime::builder().only([] as [&str; 0]).tool(noting("change", ran)).tool(bridge)
}

/// Policies that block `change`, each in another way.
fn blocking() -> Vec<(&'static str, Policy)> {
    let block = || Rule::blocked("not here");
    vec![
        ("by name", Policy::new().tool("change", block())),
        (
            "by a function",
            Policy::new().decide_with(move |call| (call.tool == "change").then(|| Rule::blocked("not here"))),
        ),
        (
            "by the effect",
            Policy::new()
                .decide_with(move |call| (call.effect == Effect::Destructive).then(|| Rule::blocked("not here"))),
        ),
        (
            "by arguments",
            Policy::new().call("change", json!({}), block()).call("change", json!({ "by": "model" }), block()),
        ),
    ]
}

#[tokio::test]
async fn what_the_policy_of_a_caller_blocks_does_not_run_in_any_runtime_under_it() {
    for way in WAYS {
        for (kind, policy) in blocking() {
            for name in ["change", "worker"] {
                let ran = Ran::default();
                let arguments = if name == "worker" { json!({ "input": "Go." }) } else { json!({}) };
                let application = application(&ran, library(&ran).build().unwrap(), (name, arguments), way);
                let runtime =
                    application.policy(policy.clone()).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
                let result = runtime.run_named("bridge", json!({})).await;
                assert_eq!(*ran.lock().unwrap(), Vec::<String>::new(), "{way}, {kind}, {name}");
                if name == "change" {
                    let error = llm_do::error::chain(&result.unwrap_err());
                    assert!(error.contains("not here"), "{way}, {kind}: {error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_the_policy_of_a_caller_asks_about_its_approver_decides() {
    for way in WAYS {
        for (answer, expected) in [(Decision::approve(), 1), (Decision::deny("no"), 0)] {
            let (ran, asked) = (Ran::default(), Ran::default());
            let (seen, decision) = (Arc::clone(&asked), answer.clone());
            let application = application(&ran, library(&ran).build().unwrap(), ("change", json!({})), way);
            let application =
                application.policy(Policy::new().tool("change", Rule::Ask)).approve_with(move |request| {
                    seen.lock().unwrap().push(request.tool.to_string());
                    std::future::ready(decision.clone())
                });
            let result = application.build().unwrap().run_named("bridge", json!({})).await;
            assert_eq!(*asked.lock().unwrap(), ["change"], "{way}: {result:?}");
            assert_eq!(ran.lock().unwrap().len(), expected, "{way}");
        }
    }
}

#[tokio::test]
async fn a_caller_that_rejects_all_rejects_it_in_every_runtime_under_it() {
    for way in WAYS {
        let ran = Ran::default();
        // Without the rules of the library, its calls need approval.
        let library = library(&ran).policy(Policy::new()).build().unwrap();
        let application = application(&ran, library, ("change", json!({})), way).approval_mode(ApprovalMode::RejectAll);
        let error = application.build().unwrap().run_named("bridge", json!({})).await.unwrap_err();
        assert!(error.is_denied() || llm_do::error::chain(&error).contains("rejects every call"), "{way}: {error}");
        assert!(ran.lock().unwrap().is_empty(), "{way}");
    }
}

#[tokio::test]
async fn a_library_that_rejects_all_does_so_under_a_caller_that_approves_all() {
    let ran = Ran::default();
    let library = library(&ran).policy(Policy::new()).approval_mode(ApprovalMode::RejectAll).build().unwrap();
    let application = application(&ran, library, ("change", json!({})), WAYS[0]);
    let runtime = application.approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    assert!(runtime.run_named("bridge", json!({})).await.is_err());
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_rule_of_a_caller_that_approves_does_not_relax_the_library() {
    let ran = Ran::default();
    let library = library(&ran).policy(Policy::new().tool("change", Rule::blocked("never"))).build().unwrap();
    let application = application(&ran, library, ("change", json!({})), WAYS[0]);
    let policy = Policy::new().tool("change", Rule::PreApproved);
    let runtime = application.policy(policy).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    let error = llm_do::error::chain(&runtime.run_named("bridge", json!({})).await.unwrap_err());
    assert!(error.contains("never"), "{error}");
    assert!(ran.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_rule_of_a_caller_for_workers_holds_for_workers_of_a_library() {
    let (ran, asked) = (Ran::default(), Ran::default());
    let seen = Arc::clone(&asked);
    let application = application(&ran, library(&ran).build().unwrap(), ("worker", json!({ "input": "Go." })), "both");
    let policy = Policy::new().workers(WorkerRule::new().calls(true));
    let runtime = application.policy(policy).approve_with(move |request| {
        seen.lock().unwrap().push(request.tool.to_string());
        std::future::ready(Decision::deny("no"))
    });
    assert!(runtime.build().unwrap().run_named("bridge", json!({})).await.is_err());
    assert_eq!(*asked.lock().unwrap(), ["worker"]);
}

#[tokio::test]
async fn a_server_side_tool_that_a_caller_blocks_is_left_out_of_requests_of_a_library() {
    for (policy, expected) in [
        (Policy::new(), 1),
        (Policy::new().server_side_tools(Rule::blocked("private")), 0),
        (Policy::new().server_side_tool("web_fetch", Rule::blocked("private")), 0),
        (Policy::new().decide_with(|call| call.is_server_side.then(|| Rule::blocked("private"))), 0),
    ] {
        let ran = Ran::default();
        let profile = Profile::BASIC.with_server_side_tools(&[ServerSideTool::WebFetch]);
        let model = ScriptedModel::new().text("Found.").profile(profile);
        let worker = WorkerSpec::new("searcher", "Search.").server_side_tools([ServerSideTool::WebFetch]);
        let library = Runtime::builder().only([] as [&str; 0]).worker(worker).force_model(model.clone());
        let call = ("searcher", json!({ "input": "Go." }));
        let application = application(&ran, library.build().unwrap(), call, "both").policy(policy);
        application.build().unwrap().run_named("bridge", json!({})).await.unwrap();
        assert_eq!(model.requests()[0].server_side_tools.len(), expected);
    }
}

#[tokio::test]
async fn depth_timeouts_and_limits_of_a_caller_hold_by_name_in_a_library() {
    let ran = Ran::default();
    let call = ("worker", json!({ "input": "Go." }));
    let build = || application(&ran, library(&ran).build().unwrap(), call.clone(), "both");
    let error = build().max_depth(0).build().unwrap().run_named("bridge", json!({})).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("depth"), "{error}");

    let own = WorkerSpec::new("worker", "Work.");
    let limited = build().worker(own).worker_limits("worker", Limits::new().requests(0));
    let error = limited.build().unwrap().run_named("bridge", json!({})).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("request"), "{error}");

    let wait = || {
        FunctionTool::new("wait", "Wait.", schema(), Effect::ReadOnly, |_, _: Value| async {
            std::future::pending::<()>().await;
            Ok(())
        })
    };
    let library = Runtime::builder().only([] as [&str; 0]).tool(wait()).build().unwrap();
    let application = application(&ran, library, ("wait", json!({})), "both").tool(wait());
    let runtime = application.timeout("wait", Duration::from_millis(50)).build().unwrap();
    let run = tokio::time::timeout(Duration::from_secs(30), runtime.run_named("bridge", json!({}))).await;
    assert!(llm_do::error::chain(&run.expect("it times out").unwrap_err()).contains("time"));
}

#[tokio::test]
async fn a_block_is_an_event_of_the_call_with_its_reason() {
    let (ran, recorder) = (Ran::default(), Recorder::new());
    let application = application(&ran, library(&ran).build().unwrap(), ("change", json!({})), "both");
    let policy = Policy::new().tool("change", Rule::blocked("not here"));
    let runtime = application.policy(policy).sink(recorder.clone()).build().unwrap();
    drop(runtime.run_named("bridge", json!({})).await);
    let shown = format!("{:?}", recorder.events());
    assert!(shown.contains("not here") && shown.contains("PolicyTool"), "{shown}");
}
