//! Dry runs: which calls run, which are planned, and what callers get.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision, Policy, Rule, RuleSource, WorkerRule};
use llm_do::dry_run::{Plan, PlannedApproval, PlannedCall, PlannedKind};
use llm_do::event::{Caller, EventKind, Terminal, Verbosity};
use llm_do::journal::MemoryJournal;
use llm_do::model::Message;
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::trace::Trace;
use llm_do::{CallError, Effect, Limits, Value, json};

use super::sinks::Written;

/// To whom messages were sent.
static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn is_sent(to: &str) -> bool {
    SENT.lock().unwrap().iter().any(|sent| sent == to)
}

/// Look up an address.
#[tool(effect = read_only)]
fn dry_look_up(name: String) -> String {
    format!("{name}@example.com")
}

/// Send a message, and return its number.
#[tool(effect = destructive, summary = "send to {to}")]
fn dry_send(to: String) -> u32 {
    SENT.lock().unwrap().push(to);
    1
}

/// Set a flag.
#[tool(effect = idempotent, summary = "flag {to}")]
fn dry_flag(to: String) -> bool {
    SENT.lock().unwrap().push(to);
    true
}

/// Send a message after a while.
#[tool]
async fn dry_forward(ctx: &CallContext, to: String) -> Result<u32> {
    Ok(ctx.call(dry_send { to }).await?)
}

/// Read the newest message.
#[tool(effect = read_only)]
async fn dry_newest(ctx: &CallContext) -> Result<String> {
    Ok(ctx.effect("fetch", (), async { Ok("news".to_owned()) }).await?)
}

/// Write to people.
#[worker(toolsets = [dry_look_up, dry_send, dry_flag, dry_forward])]
async fn dry_writer(input: String) -> String;

/// Looks up an address and sends a message, or explains why not.
#[entry(toolsets = [dry_look_up, dry_send])]
async fn dry_mail(ctx: &CallContext<dry_mail>, name: String) -> Result<String> {
    let to = ctx.call(dry_look_up { name }).await?;
    match ctx.call(dry_send { to }).await {
        Ok(number) => Ok(format!("sent {number}")),
        Err(CallError::DryRun { tool }) => Ok(format!("`{tool}` is planned")),
        Err(error) => Err(error.into()),
    }
}

/// Sends a message, and needs its number.
#[entry(toolsets = [dry_send])]
async fn dry_number(ctx: &CallContext<dry_number>, to: String) -> Result<u32> {
    Ok(ctx.call(dry_send { to }).await? + 1)
}

/// Has a worker write.
#[entry(toolsets = [dry_writer])]
async fn dry_delegate(ctx: &CallContext<dry_delegate>) -> Result<String> {
    Ok(ctx.call(dry_writer { input: "write".into() }).await?)
}

/// Pays by an effect of its own.
#[entry]
async fn dry_pay(ctx: &CallContext, to: String) -> Result<u32> {
    let payee = to.clone();
    let pay = async move {
        SENT.lock().unwrap().push(payee);
        Ok(2)
    };
    Ok(ctx.effect("pay", json!({ "to": to }), pay).await?)
}

/// Reads what is new.
#[entry(toolsets = [dry_newest])]
async fn dry_read(ctx: &CallContext<dry_read>) -> Result<String> {
    Ok(ctx.call(dry_newest {}).await?)
}

/// A builder whose approver approves and counts what it is asked.
fn builder() -> (RuntimeBuilder, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let approve = move |_: ApprovalRequest| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Decision::approve() }
    };
    (Runtime::builder().approve_with(approve), asked)
}

/// Runs a dry run by name; returns its result, and its plan.
async fn dry(builder: RuntimeBuilder, name: &str, arguments: Value) -> (Result<Value, CallError>, Plan) {
    let start = builder.build().unwrap().start_named(name, arguments).dry_run();
    let handle = start.handle();
    let result = start.await;
    (result, handle.plan())
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.calls.iter().map(|call| &*call.name).collect()
}

#[tokio::test]
async fn calls_that_only_read_run_and_code_gets_a_typed_error_for_others() {
    let (builder, asked) = builder();
    let (result, plan) = dry(builder, "dry_mail", json!({ "name": "ann" })).await;
    assert_eq!(result.unwrap(), "`dry_send` is planned");
    let [call] = &plan.calls[..] else { panic!("{plan}") };
    assert_eq!((&*call.name, call.what, call.by), ("dry_send", PlannedKind::Tool, Caller::Code));
    assert_eq!(call.path, [Arc::<str>::from("dry_mail")]);
    assert_eq!(call.parent, Some(0));
    assert_eq!((&call.arguments, &*call.summary), (&json!({ "to": "ann@example.com" }), "send to ann@example.com"));
    assert_eq!((call.effect, call.approval), (Effect::Destructive, PlannedApproval::Asked));
    assert_eq!((call.rule.as_ref(), call.ran), (Some(&RuleSource::Effect), false));
    assert!(!is_sent("ann@example.com"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_plan_is_written_as_text_and_as_json() {
    let (_, plan) = dry(builder().0, "dry_mail", json!({ "name": "amy" })).await;
    let expected =
        "plan: 1 call\n  1. send to amy@example.com (tool, destructive) would ask for approval; called by dry_mail";
    assert_eq!(plan.to_string(), expected);
    let written = serde_json::to_value(&plan).unwrap();
    assert_eq!(
        written["calls"][0],
        json!({
            "call": plan.calls[0].call, "parent": 0, "name": "dry_send", "what": "tool", "by": "code", "path": ["dry_mail"],
            "summary": "send to amy@example.com", "arguments": { "to": "amy@example.com" }, "effect": "destructive",
            "approval": "asked", "rule": "effect",
        })
    );
    assert_eq!(serde_json::from_value::<Plan>(written).unwrap(), plan);
    let (_, empty) = dry(builder().0, "dry_read", json!({})).await;
    assert_eq!(empty.to_string(), "plan: no call would change anything");
}

#[tokio::test]
async fn a_model_reads_that_a_call_did_not_run_and_continues() {
    let model = ScriptedModel::new()
        .call("dry_look_up", json!({ "name": "bob" }))
        .call("dry_send", json!({ "to": "bob@example.com" }))
        .call("dry_flag", json!({ "to": "flag of bob" }))
        .text("done");
    let (builder, asked) = builder();
    let (result, plan) = dry(builder.force_model(model.clone()), "dry_delegate", json!({})).await;
    assert_eq!(result.unwrap(), "done");
    assert_eq!(names(&plan), ["dry_send", "dry_flag"]);
    assert_eq!((plan.calls[0].by, plan.calls[0].path.len()), (Caller::Model, 2));
    // A model gives them as text.
    assert_eq!(
        (&plan.calls[0].arguments, &*plan.calls[0].summary),
        (&json!({ "to": "bob@example.com" }), "send to bob@example.com")
    );
    assert!(plan.to_string().contains("called by the model of dry_delegate > dry_writer"), "{plan}");
    let requests = model.requests();
    assert_eq!(requests[1].last_text(), "bob@example.com");
    let Some(Message::Tool { results }) = requests[2].messages.last() else { panic!("{requests:?}") };
    assert!(!results[0].is_error, "nothing for the model to correct");
    let expected = "`dry_send` did not run, since this is a dry run: nothing is changed, and there is no result.";
    assert!(results[0].content.starts_with(expected), "{}", results[0].content);
    assert!(!is_sent("bob@example.com") && !is_sent("flag of bob"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_tool_without_an_effect_is_planned_as_a_whole() {
    let model = ScriptedModel::new().call("dry_forward", json!({ "to": "forwarded" })).text("done");
    let (_, plan) = dry(builder().0.force_model(model), "dry_delegate", json!({})).await;
    assert_eq!(names(&plan), ["dry_forward"]);
    assert_eq!(plan.calls[0].effect, Effect::Undeclared);
}

#[tokio::test]
async fn code_that_needs_the_result_ends_the_run_and_the_error_has_its_cause() {
    let (result, plan) = dry(builder().0, "dry_number", json!({ "to": "cid" })).await;
    let error = result.unwrap_err();
    assert!(error.is_dry_run() && !error.is_denied(), "{error:?}");
    let expected = "`dry_number` failed: `dry_send` did not run, since this is a dry run; the call is in the plan";
    assert_eq!(llm_do::error::chain(&error), expected);
    assert_eq!(names(&plan), ["dry_send"]);
}

#[tokio::test]
async fn a_test_gives_the_results_of_planned_calls() {
    let runtime = builder().0.build().unwrap();
    let answer = |call: &PlannedCall| (&*call.name == "dry_send" || &*call.name == "pay").then(|| json!(41));
    let start = runtime.start(dry_number { to: "given".into() }).dry_run_with(answer);
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), 42);
    assert_eq!(names(&handle.plan()), ["dry_send"]);
    assert_eq!(runtime.start(dry_pay { to: "given".into() }).dry_run_with(answer).await.unwrap(), 41);
    assert!(!is_sent("given"));
    let of_another_type = |_: &PlannedCall| Some(json!("many"));
    let error = runtime.start(dry_pay { to: "given".into() }).dry_run_with(of_another_type).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("the result of `pay` does not match"), "{error:?}");
}

#[tokio::test]
async fn a_root_call_of_a_tool_is_planned_without_approval() {
    let (result, plan) = dry(builder().0, "dry_send", json!({ "to": "dan" })).await;
    assert!(matches!(result, Err(CallError::DryRun { tool }) if tool == "dry_send"));
    assert_eq!((plan.calls[0].approval, plan.calls[0].parent), (PlannedApproval::NotNeeded, None));
    assert!(plan.to_string().ends_with("needs no approval; called by the user"), "{plan}");
    assert!(!is_sent("dan"));
}

#[tokio::test]
async fn an_effect_is_planned_and_one_of_a_tool_that_only_reads_runs() {
    let (result, plan) = dry(builder().0, "dry_pay", json!({ "to": "eve" })).await;
    assert!(result.unwrap_err().is_dry_run() && !is_sent("eve"));
    let [effect] = &plan.calls[..] else { panic!("{plan}") };
    assert_eq!((&*effect.name, effect.what, effect.approval), ("pay", PlannedKind::Effect, PlannedApproval::NotNeeded));
    assert_eq!((&effect.arguments, &effect.rule), (&json!({ "to": "eve" }), &None));
    let (result, plan) = dry(builder().0, "dry_read", json!({})).await;
    assert_eq!((result.unwrap(), plan.calls.len()), (json!("news"), 0));
}

#[tokio::test]
async fn what_would_be_asked_is_planned_also_if_it_only_reads() {
    let asking = || Policy::new().tool("dry_look_up", Rule::Ask);
    let (result, plan) = dry(builder().0.policy(asking()), "dry_mail", json!({ "name": "fay" })).await;
    assert!(result.unwrap_err().is_dry_run());
    assert_eq!(names(&plan), ["dry_look_up"]);
    assert_eq!(
        (plan.calls[0].approval, plan.calls[0].rule.clone()),
        (PlannedApproval::Asked, Some(RuleSource::PolicyTool))
    );
    let approving = builder().0.policy(asking()).approval_mode(ApprovalMode::ApproveAll);
    let (result, plan) = dry(approving, "dry_mail", json!({ "name": "fay" })).await;
    assert_eq!(result.unwrap(), "`dry_send` is planned");
    assert_eq!((names(&plan), plan.calls[0].approval), (vec!["dry_send"], PlannedApproval::ByMode));
    let of_workers = Policy::new().workers(WorkerRule::new().calls(true));
    let model = ScriptedModel::new().text("done");
    let (result, plan) = dry(builder().0.policy(of_workers).force_model(model), "dry_delegate", json!({})).await;
    assert!(result.unwrap_err().is_dry_run());
    assert_eq!((names(&plan), plan.calls[0].what), (vec!["dry_writer"], PlannedKind::Worker));
}

#[tokio::test]
async fn what_is_denied_without_a_question_is_denied_and_not_planned() {
    let blocking = builder().0.policy(Policy::new().tool("dry_send", Rule::blocked("no mail")));
    let (result, plan) = dry(blocking, "dry_mail", json!({ "name": "gil" })).await;
    assert!(result.unwrap_err().is_blocked() && plan.calls.is_empty());
    let rejecting = builder().0.approval_mode(ApprovalMode::RejectAll);
    let (result, plan) = dry(rejecting, "dry_mail", json!({ "name": "gil" })).await;
    assert!(result.unwrap_err().is_denied() && plan.calls.is_empty());
}

#[tokio::test]
async fn planned_calls_count_for_limits() {
    let model = ScriptedModel::new().call("dry_send", json!({ "to": "hal" })).repeat_last();
    let builder = builder().0.force_model(model).limits(Limits::new().tool_calls(3));
    let (result, plan) = dry(builder, "dry_delegate", json!({})).await;
    assert!(matches!(result, Err(error) if llm_do::error::chain(&error).contains("`tool_calls`")));
    assert_eq!(plan.calls.len(), 2, "the worker's call is the first of three");
}

#[tokio::test]
async fn a_dry_run_reads_and_writes_no_journal() {
    let (of_runtime, of_run) = (MemoryJournal::new(), MemoryJournal::new());
    let runtime = builder().0.journal(of_runtime.clone()).build().unwrap();
    let name = || "ida".to_owned();
    let dry = runtime.start(dry_mail { name: name() }).dry_run().journal(of_run.clone());
    assert_eq!(dry.await.unwrap(), "`dry_send` is planned");
    assert_eq!(runtime.start(dry_mail { name: name() }).dry_run().await.unwrap(), "`dry_send` is planned");
    assert_eq!((of_runtime.records().len(), of_run.records().len()), (0, 0));
    let real = || runtime.start(dry_mail { name: name() }).journal(of_run.clone());
    assert_eq!(real().await.unwrap(), "sent 1");
    // The records of a finished run answer nothing in a dry run.
    let records = of_run.records().len();
    let dry = runtime.start(dry_mail { name: name() }).journal(of_run.clone()).dry_run();
    assert_eq!(dry.await.unwrap(), "`dry_send` is planned");
    assert_eq!(of_run.records().len(), records);
}

#[tokio::test]
async fn a_run_under_a_dry_run_is_a_part_of_it() {
    let library = builder().0.only(["dry_number", "dry_send"]).build().unwrap();
    let schema = json!({ "type": "object" });
    let bridge = FunctionTool::new("dry_bridge", "Cross.", schema, Effect::ReadOnly, move |ctx, _: Value| {
        let library = library.clone();
        async move { Ok(library.start(dry_number { to: "jon".into() }).under(&ctx).await?) }
    });
    let application = Runtime::builder().only([] as [&str; 0]).tool(bridge);
    let (result, plan) = dry(application, "dry_bridge", json!({})).await;
    assert!(result.unwrap_err().is_dry_run() && !is_sent("jon"));
    // The entry would be asked about, since code calls it.
    assert_eq!((names(&plan), plan.calls[0].ran), (vec!["dry_number", "dry_send"], true));
    assert_eq!(plan.calls[1].path.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["dry_bridge", "dry_number"]);
}

#[tokio::test]
async fn a_dry_run_under_a_recorded_run_is_not_recorded() {
    let library = builder().0.only(["dry_mail", "dry_look_up", "dry_send"]).build().unwrap();
    let schema = json!({ "type": "object" });
    let check = FunctionTool::new("dry_check", "Check.", schema, Effect::ReadOnly, move |ctx, _: Value| {
        let library = library.clone();
        async move { Ok(library.start(dry_mail { name: "kim".into() }).dry_run().under(&ctx).await?) }
    });
    let journal = MemoryJournal::new();
    let runtime = Runtime::builder().only([] as [&str; 0]).tool(check).journal(journal.clone()).build().unwrap();
    assert_eq!(runtime.run_named("dry_check", json!({})).await.unwrap(), "`dry_send` is planned");
    let recorded = journal.records();
    assert!(recorded.iter().all(|record| !record.name.starts_with("dry_look_up")), "{recorded:?}");
    assert!(!is_sent("kim@example.com"));
}

/// The events of a dry run in which a model sends a message.
async fn events(sink: Recorder, terminal: Terminal) {
    let model = ScriptedModel::new().call("dry_send", json!({ "to": "lea" })).text("done");
    let runtime = builder().0.force_model(model).sink(sink).sink(terminal).build().unwrap();
    assert_eq!(runtime.start(dry_delegate {}).dry_run().await.unwrap(), "done");
    runtime.flush().await;
}

#[tokio::test]
async fn a_planned_call_is_one_event_and_is_shown_in_a_terminal_and_in_a_trace() {
    let (recorder, written) = (Recorder::new(), Written::default());
    events(recorder.clone(), Terminal::new(written.clone(), Verbosity::Calls)).await;
    let of_call = recorder.events().into_iter().filter(|event| &*event.name == "dry_send").collect::<Vec<_>>();
    assert_eq!(of_call.len(), 1, "{of_call:?}");
    assert!(matches!(
        of_call[0].kind,
        EventKind::CallPlanned { effect: Effect::Destructive, approval: PlannedApproval::Asked, ran: false, .. }
    ));
    assert!(written.text().contains("○ dry_send is planned: send to lea"), "{}", written.text());
    let log: String = recorder.events().iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    let trace = Trace::read(log.as_bytes()).unwrap().to_json();
    let call = &trace["runs"][0]["calls"][0]["calls"][0];
    assert_eq!((&call["name"], &call["status"]), (&json!("dry_send"), &json!("planned")), "{trace}");
    assert_eq!(call["planned"], "send to lea would ask for approval");
}
