//! The scope of an approval: one caller, one run, or the session.

use llm_do::approval::{ApprovalInbox, ApprovalScope, Decision, PendingApproval};
use llm_do::event::EventKind;
use llm_do::journal::{MemoryJournal, StepKind};
use llm_do::model::ServerSideTool;
use llm_do::prelude::*;
use llm_do::testing::TestModel;
use llm_do::worker::WorkerSpec;
use llm_do::{Limits, Settings, json};

use super::{Scripted, calling};

/// Sign a contract.
#[tool(effect = destructive)]
async fn sign(contract: String) -> String {
    format!("signed {contract}")
}

/// Sign as a lawyer.
#[tool(approval = pre_approved, toolsets = [sign])]
async fn lawyer(ctx: &CallContext<lawyer>, contract: String) -> Result<String> {
    Ok(ctx.call(sign { contract }).await?)
}

/// Sign as a clerk.
#[tool(approval = pre_approved, toolsets = [sign])]
async fn clerk(ctx: &CallContext<clerk>, contract: String) -> Result<String> {
    Ok(ctx.call(sign { contract }).await?)
}

/// Has both sign concurrently.
#[entry(toolsets = [lawyer, clerk])]
async fn both_together(ctx: &CallContext<both_together>) -> Result<Vec<String>> {
    let contract = || "lease".to_owned();
    let (first, second) =
        tokio::join!(ctx.call(lawyer { contract: contract() }), ctx.call(clerk { contract: contract() }));
    Ok([first, second].map(|signed| signed.unwrap_or_else(|error| llm_do::error::chain(&error))).into())
}

/// Has the lawyer sign twice, and then the clerk.
#[entry(toolsets = [lawyer, clerk])]
async fn in_turn(ctx: &CallContext<in_turn>) -> Result<()> {
    ctx.call(lawyer { contract: "lease".into() }).await?;
    ctx.call(lawyer { contract: "lease".into() }).await?;
    ctx.call(clerk { contract: "lease".into() }).await?;
    Ok(())
}

fn caller(question: &PendingApproval) -> String {
    question.request().caller.to_string()
}

#[tokio::test]
async fn an_answer_for_one_caller_does_not_serve_anothers_equal_call() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(both_together {}).await });
    let (first, second) = (inbox.next().await.unwrap(), inbox.next().await.unwrap());
    assert_eq!((caller(&first), caller(&second)), ("lawyer".to_owned(), "clerk".to_owned()));
    first.approve();
    second.deny("a clerk does not sign");
    let signed = run.await.unwrap().unwrap();
    assert_eq!(signed[0], "signed lease");
    assert!(signed[1].ends_with("denied: a clerk does not sign"), "{signed:?}");
}

#[tokio::test]
async fn an_answer_for_one_run_does_not_serve_another() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let start = |runtime: Runtime| tokio::spawn(async move { runtime.run(lawyer { contract: "lease".into() }).await });
    let (one, other) = (start(runtime.clone()), start(runtime));
    let (first, second) = (inbox.next().await.unwrap(), inbox.next().await.unwrap());
    first.approve();
    second.deny("once is enough");
    let ended = [one.await.unwrap(), other.await.unwrap()];
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
}

/// Returns how often an approver is asked that gives this answer, in two runs of one runtime.
async fn asked(scope: ApprovalScope) -> [usize; 2] {
    let approver = Scripted::new([Decision::approve_for(scope)]);
    let runtime = Runtime::builder().approver(approver.clone()).build().unwrap();
    runtime.run(in_turn {}).await.unwrap();
    let first = approver.asked().len();
    runtime.run(in_turn {}).await.unwrap();
    [first, approver.asked().len() - first]
}

#[tokio::test]
async fn an_approval_holds_within_its_scope_and_not_beyond() {
    assert_eq!(asked(ApprovalScope::Call).await, [3, 3]);
    assert_eq!(asked(ApprovalScope::Caller).await, [2, 2], "the lawyer is asked about once, and the clerk");
    assert_eq!(asked(ApprovalScope::Run).await, [1, 1]);
    assert_eq!(asked(ApprovalScope::Session).await, [1, 0]);
}

#[tokio::test]
async fn a_pending_approval_can_be_given_a_scope() {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().approver(approver).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(in_turn {}).await });
    inbox.next().await.unwrap().approve_for(ApprovalScope::Run);
    run.await.unwrap().unwrap();
    assert!(inbox.next().await.is_none(), "there was one request");
}

#[tokio::test]
async fn a_request_has_the_ids_of_the_run_the_call_and_its_callers() {
    let (approver, recorder) = (Scripted::approving(), llm_do::testing::Recorder::new());
    let runtime = Runtime::builder().approver(approver.clone()).sink(recorder.clone()).build().unwrap();
    runtime.run(in_turn {}).await.unwrap();
    let events = recorder.events();
    let of = |name: &str| events.iter().filter(|event| &*event.name == name).collect::<Vec<_>>();
    let asked = approver.asked();
    let signed: Vec<_> =
        of("sign").into_iter().filter(|event| matches!(event.kind, EventKind::ApprovalAsked { .. })).collect();
    assert_eq!((asked.len(), signed.len()), (3, 3));
    for (request, event) in asked.iter().zip(signed) {
        assert_eq!((&request.run, request.call, request.parent), (&event.run, event.call, event.parent));
        let caller = of(&request.caller).into_iter().find(|event| Some(event.call) == request.parent).unwrap();
        assert_eq!(request.path_ids, [caller.parent.unwrap(), caller.call]);
        assert_eq!(request.path.len(), request.path_ids.len());
    }
}

#[tokio::test]
async fn a_scope_is_restored_with_a_recorded_decision() {
    let journal = MemoryJournal::new();
    let approver = Scripted::new([Decision::approve_for(ApprovalScope::Caller), Decision::deny("no clerk")]);
    let runtime = Runtime::builder().approver(approver.clone()).journal(journal.clone()).build().unwrap();
    runtime.run(in_turn {}).await.unwrap_err();
    assert_eq!(approver.asked().len(), 2);
    // Without the lawyer's second call, as if the process had died before it was asked about.
    let records = journal.records();
    let decided = records.iter().position(|record| record.kind == StepKind::Approval).unwrap();
    let cut = MemoryJournal::from_records(records[..=decided].to_vec());
    let approver = Scripted::new([Decision::deny("no clerk")]);
    let runtime = Runtime::builder().approver(approver.clone()).journal(cut).build().unwrap();
    runtime.run(in_turn {}).await.unwrap_err();
    let callers: Vec<_> = approver.asked().iter().map(|request| request.caller.to_string()).collect();
    assert_eq!(callers, ["clerk"], "the lawyer's second call is covered by the recorded answer");
}

/// Calls helpers of one name, each of which wants to sign.
#[entry(toolsets = [sign])]
async fn helpers(ctx: &CallContext<helpers>, which: String) -> Result<()> {
    let plain = || WorkerSpec::new("helper", "Help.").toolsets(["sign"]);
    let other = match which.as_str() {
        "same" => plain(),
        "model" => plain().model("test:other"),
        "settings" => plain().settings(Settings::new().temperature(0.5)),
        "headers" => plain().settings(Settings::new().extra_header("x-team", "red")),
        "server_side_tools" => plain().server_side_tools([ServerSideTool::WEB_SEARCH]),
        "output_schema" => plain().output_schema(json!({ "type": "string", "minLength": 1 })),
        "output_mode" => plain().output_mode(llm_do::worker::OutputMode::Tool),
        "max_turns" => plain().max_turns(7),
        "retries" => plain().retries(7),
        "limits" => plain().limits(Limits::new().requests(9)),
        "timeout" => plain().timeout(std::time::Duration::from_secs(999)),
        "compatible_models" => plain().compatible_models(["*"]),
        "hints" => plain().hints(["law"]),
        "description" => plain().description("Helps."),
        "instructions" => WorkerSpec::new("helper", "Help!").toolsets(["sign"]),
        other => unreachable!("{other}"),
    };
    for spec in [plain(), other] {
        // The result of a helper does not matter here.
        drop(ctx.llm_agent(spec).input("go").await);
    }
    Ok(())
}

/// Returns how often the approver is asked about `sign`, if it approves for a caller.
async fn asked_of_helpers(which: &str) -> usize {
    let approver = Scripted::new([Decision::approve_for(ApprovalScope::Caller)]);
    let profile = llm_do::model::Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH]);
    let model = calling("sign", json!({ "contract": "lease" })).profile(profile);
    let runtime = Runtime::builder().approver(approver.clone()).force_model(model).build().unwrap();
    runtime.run(helpers { which: which.into() }).await.unwrap();
    approver.asked().len()
}

#[tokio::test]
async fn callers_of_the_same_name_are_distinguished_by_their_definitions() {
    assert_eq!(asked_of_helpers("same").await, 1);
    for which in [
        "model",
        "settings",
        "headers",
        "server_side_tools",
        "output_schema",
        "output_mode",
        "max_turns",
        "retries",
        "limits",
        "timeout",
        "compatible_models",
        "hints",
        "description",
        "instructions",
    ] {
        assert_eq!(asked_of_helpers(which).await, 2, "{which}");
    }
}

#[tokio::test]
async fn nothing_is_remembered_for_a_run_after_its_end() {
    let approver = Scripted::new([Decision::approve_for(ApprovalScope::Run)]);
    let model = TestModel::new().text("x");
    let runtime = Runtime::builder().approver(approver.clone()).force_model(model).build().unwrap();
    // A handle keeps what can be known of a run, and must not keep its approvals.
    let mut handles = Vec::new();
    for runs in 1..=3 {
        let start = runtime.start(in_turn {});
        handles.push(start.handle());
        start.await.unwrap();
        assert_eq!(approver.asked().len(), runs);
    }
}
