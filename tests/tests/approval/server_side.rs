//! Tools that a model's provider runs are held to the policy before a worker's first request.

use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalMode, Decision, Policy, Rule, RuleSource};
use llm_do::dry_run::PlannedKind;
use llm_do::event::EventKind;
use llm_do::guard::FunctionGuard;
use llm_do::journal::MemoryJournal;
use llm_do::model::{Profile, Response, ResponsePart, ServerSideTool};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::Usage;
use llm_do::{Limits, json};

use super::{Scripted, decisions};

/// Search for an answer.
#[worker(server_side_tools = [web_search(max_uses = 3), code_execution])]
async fn searcher(input: String) -> String;

/// Has an answer searched for.
#[entry(toolsets = [searcher])]
async fn search_entry(ctx: &CallContext<search_entry>) -> Result<String> {
    Ok(ctx.call(searcher { input: "q".into() }).await?)
}

const PROFILE: Profile =
    Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution]);

/// A model that answers, and writes down which server-side tools it is given.
fn model(profile: Profile) -> (FunctionModel, Arc<Mutex<Vec<Vec<String>>>>) {
    let given: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let seen = Arc::clone(&given);
    let model = FunctionModel::new(move |request| {
        let names = request.server_side_tools.iter().map(|tool| tool.name().to_owned()).collect();
        seen.lock().unwrap().push(names);
        let parts = vec![ResponsePart::Text { text: "found".into() }];
        Ok(Response::new("test", parts, Usage::of_request(1, 1)))
    });
    (model.profile(profile), given)
}

/// Returns the server-side tools in the request of a run.
async fn given(builder: RuntimeBuilder) -> Vec<String> {
    let (model, given) = model(PROFILE);
    assert_eq!(builder.force_model(model).build().unwrap().run(search_entry {}).await.unwrap(), "found");
    let mut given = given.lock().unwrap();
    assert_eq!(given.len(), 1);
    given.remove(0)
}

#[tokio::test]
async fn listed_tools_are_approved_unless_the_policy_overrides_it() {
    assert_eq!(given(Runtime::builder()).await, ["web_search", "code_execution"]);
    let rejecting = Runtime::builder().approval_mode(ApprovalMode::RejectAll);
    assert_eq!(given(rejecting).await, ["web_search", "code_execution"]);
}

#[tokio::test]
async fn blocked_tools_are_left_out_in_every_mode_and_reported() {
    let recorder = Recorder::new();
    let policy = Policy::new().server_side_tool("web_search", Rule::blocked("no searches"));
    let builder = Runtime::builder().policy(policy).approval_mode(ApprovalMode::ApproveAll).sink(recorder.clone());
    assert_eq!(given(builder).await, ["code_execution"]);
    let (approved, _, rule) = decisions(&recorder, "web_search").remove(0);
    assert!(!approved && rule == RuleSource::PolicyServerSideTool);
    let refused = recorder.events().into_iter().find(|event| matches!(event.kind, EventKind::CallRefused { .. }));
    assert_eq!(&*refused.unwrap().name, "web_search");
}

#[tokio::test]
async fn the_rule_for_one_tool_overrides_the_rule_for_all() {
    let policy = Policy::new()
        .server_side_tools(Rule::blocked("nothing leaves"))
        .server_side_tool("code_execution", Rule::PreApproved);
    assert_eq!(given(Runtime::builder().policy(policy)).await, ["code_execution"]);
}

fn asking() -> Policy {
    Policy::new().server_side_tools(Rule::Ask)
}

#[tokio::test]
async fn the_approver_is_asked_once_for_each_tool_and_denied_tools_are_left_out() {
    let approver = Scripted::new([Decision::approve(), Decision::deny("no code")]);
    assert_eq!(given(Runtime::builder().policy(asking()).approver(approver.clone())).await, ["web_search"]);
    let asked = approver.asked();
    assert_eq!(approver.tools(), ["web_search", "code_execution"]);
    assert_eq!(asked[0].arguments, json!({ "max_uses": 3 }));
    assert_eq!((&*asked[0].caller, asked[0].path.join("/")), ("searcher", "search_entry/searcher".to_owned()));
    let no_approver = Runtime::builder().policy(asking());
    assert_eq!(given(no_approver).await, [""; 0], "no approver is configured");
}

#[tokio::test]
async fn the_policys_function_sees_them_and_cannot_unblock_one() {
    let policy = Policy::new().server_side_tool("web_search", Rule::blocked("no")).decide_with(|call| {
        assert!(!call.is_server_side || (call.caller == "searcher" && call.tool == "code_execution"), "{call:?}");
        call.is_server_side.then(|| Rule::blocked("by the function"))
    });
    assert_eq!(given(Runtime::builder().policy(policy)).await, [""; 0]);
}

#[tokio::test]
async fn a_model_need_not_support_blocked_tools() {
    let (model, given) = model(Profile::BASIC.with_server_side_tools(&[ServerSideTool::CodeExecution]));
    let policy = Policy::new().server_side_tool("web_search", Rule::blocked("no"));
    let runtime = Runtime::builder().policy(policy).force_model(model).build().unwrap();
    runtime.run(search_entry {}).await.unwrap();
    assert_eq!(*given.lock().unwrap(), [["code_execution"]]);
}

#[tokio::test]
async fn an_approval_does_not_cover_a_tool_of_the_same_name() {
    let faults = Policy::new().server_side_tool("web_serch", Rule::Ask);
    let error = Runtime::builder().policy(faults).build().unwrap_err().to_string();
    assert!(error.contains("unknown server-side tool `web_serch`; did you mean `web_search`?"), "{error}");
}

#[tokio::test]
async fn a_decision_is_journaled() {
    let journal = MemoryJournal::new();
    let run = async |approver: Scripted, journal: MemoryJournal| {
        let (model, given) = model(PROFILE);
        let builder = Runtime::builder().policy(asking()).approver(approver.clone()).journal(journal);
        builder.force_model(model).build().unwrap().run(search_entry {}).await.unwrap();
        (approver.asked().len(), given.lock().unwrap().clone())
    };
    let approver = Scripted::new([Decision::deny("no searches"), Decision::approve()]);
    assert_eq!(run(approver, journal.clone()).await, (2, vec![vec!["code_execution".to_owned()]]));
    // As if the process had died after both were decided, before the model was asked.
    let mut records = journal.records();
    records
        .retain(|record| matches!(record.kind, llm_do::journal::StepKind::Run | llm_do::journal::StepKind::Approval));
    let resumed = run(Scripted::new([Decision::deny("asked again")]), MemoryJournal::from_records(records)).await;
    assert_eq!(resumed, (0, vec![vec!["code_execution".to_owned()]]));
}

#[tokio::test]
async fn a_guard_sees_them_and_can_leave_one_out() {
    let guard = FunctionGuard::new("offline").before_request(|request| {
        assert_eq!(request.server_side_tools().len(), 2);
        assert!(request.remove_server_side_tool("web_search") && !request.remove_server_side_tool("web_search"));
        Ok(())
    });
    let recorder = Recorder::new();
    assert_eq!(given(Runtime::builder().guard(guard).sink(recorder.clone())).await, ["code_execution"]);
    assert!(recorder.kinds().iter().any(|kind| matches!(kind, EventKind::Guarded { .. })));
}

#[tokio::test]
async fn the_approver_is_not_asked_for_a_request_that_a_limit_refuses() {
    let approver = Scripted::approving();
    let builder = Runtime::builder().policy(asking()).approver(approver.clone()).limits(Limits::new().requests(0));
    let runtime = builder.force_model(model(PROFILE).0).build().unwrap();
    let error = runtime.run(search_entry {}).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("`requests` is limited to 0"), "{error}");
    assert_eq!(approver.tools(), [""; 0]);
}

#[tokio::test]
async fn a_dry_run_works_without_those_that_act_or_need_approval_and_plans_them() {
    for (policy, used, planned) in [
        (Policy::new(), vec!["web_search"], vec!["code_execution"]),
        (Policy::new().server_side_tools(Rule::Ask), vec![], vec!["web_search", "code_execution"]),
    ] {
        let (approver, (model, given)) = (Scripted::approving(), model(PROFILE));
        let runtime = Runtime::builder().policy(policy).approver(approver.clone()).force_model(model).build().unwrap();
        let start = runtime.start(search_entry {}).dry_run();
        let handle = start.handle();
        assert_eq!(start.await.unwrap(), "found");
        assert_eq!(*given.lock().unwrap(), [used]);
        let plan = handle.plan();
        assert_eq!(plan.calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), planned);
        assert!(plan.calls.iter().all(|call| call.what == PlannedKind::ServerSideTool), "{plan}");
        assert_eq!(approver.tools(), [""; 0]);
    }
}
