//! The source of the rule for a call.

use llm_do::approval::{ApprovalMode, DecidedBy, Policy, Rule, RuleSource, WorkerRule};
use llm_do::prelude::*;
use llm_do::runtime::{BuildError, RuntimeBuilder};
use llm_do::testing::Recorder;
use serde_json::{Value, json};

use super::{Scripted, calling, decisions};

/// Asks, though it changes nothing.
#[tool(effect = read_only, approval = ask)]
fn asks() -> u8 {
    1
}

/// Runs, though it changes something for good.
#[tool(effect = destructive, approval = pre_approved)]
fn runs() -> u8 {
    2
}

/// Never runs.
#[tool(effect = read_only, approval = blocked("it is broken"))]
fn broken() -> u8 {
    3
}

/// Says nothing, and is in toolsets.
#[tool]
fn plain(number: u8) -> u8 {
    number
}

/// Says nothing, and is in one more toolset.
#[tool(effect = read_only)]
fn contested() -> u8 {
    5
}

/// Says nothing, and is in a toolset under another name.
#[tool]
fn hidden() -> u8 {
    6
}

toolset! {
    /// Runs.
    lenient(approval = pre_approved) = [plain, asks, contested, prefixed("a_", hidden)];

    /// Asks.
    strict(approval = ask) = [contested];

    /// Says nothing.
    silent = [lenient];
}

#[derive(Default)]
struct Machine;

/// A machine that is off.
#[tool(name = "machine", approval = blocked("the machine is off"))]
impl Machine {
    /// Start it.
    #[tool(approval = pre_approved)]
    fn start(&self) -> u8 {
        let Self = self;
        7
    }
}

/// Calls a tool by name.
#[entry]
async fn calls(ctx: &CallContext, tool: String, arguments: Value) -> Result<Value> {
    Ok(ctx.call_tool(&tool, arguments).await?)
}

/// Call tools.
#[worker(toolsets = [asks, runs, broken, refused_by_the_system])]
async fn agent(input: String) -> String;

/// Open a file that may not be opened.
#[tool(effect = read_only)]
fn refused_by_the_system() -> std::io::Result<()> {
    Err(std::io::ErrorKind::PermissionDenied.into())
}

/// The result of a call of `tool`, the requests, and the rule.
async fn call(
    builder: RuntimeBuilder,
    tool: &str,
    arguments: Value,
) -> (Result<Value, CallError>, usize, (bool, DecidedBy, RuleSource)) {
    let (approver, recorder) = (Scripted::approving(), Recorder::new());
    let runtime = builder.approver(approver.clone()).sink(recorder.clone()).build().unwrap();
    let result = runtime.run(calls { tool: tool.to_owned(), arguments }).await;
    let [decision] = decisions(&recorder, tool).try_into().unwrap();
    (result, approver.asked().len(), decision)
}

/// The number of requests for a call of `tool` under a policy, and the rule.
async fn ruled(policy: Policy, tool: &str) -> (usize, RuleSource) {
    let arguments = if tool == "plain" { json!({ "number": 4 }) } else { json!({}) };
    let (result, asked, (approved, _, source)) = call(Runtime::builder().policy(policy), tool, arguments).await;
    assert_eq!(result.is_ok(), approved);
    (asked, source)
}

#[tokio::test]
async fn a_tools_own_rule_overrides_its_effect_and_toolset() {
    assert_eq!(ruled(Policy::new(), "asks").await, (1, RuleSource::DeclaredTool));
    assert_eq!(ruled(Policy::new(), "runs").await, (0, RuleSource::DeclaredTool));
}

#[tokio::test]
async fn a_toolsets_rule_applies_to_members_under_any_name_and_the_strictest_wins() {
    assert_eq!(ruled(Policy::new(), "plain").await, (0, RuleSource::DeclaredToolset("lenient".into())));
    assert_eq!(ruled(Policy::new(), "hidden").await, (0, RuleSource::DeclaredToolset("lenient".into())));
    assert_eq!(ruled(Policy::new(), "contested").await, (1, RuleSource::DeclaredToolset("strict".into())));
}

#[tokio::test]
async fn the_most_specific_rule_of_the_policy_applies() {
    let (set, silent) = (RuleSource::PolicyToolset("lenient".into()), RuleSource::PolicyToolset("silent".into()));
    let of_set = Policy::new().toolset("lenient", Rule::Ask);
    assert_eq!(ruled(of_set.clone(), "plain").await, (1, set));
    // Of two toolsets that hold it, the strictest.
    let of_sets = Policy::new().toolset("lenient", Rule::PreApproved).toolset("silent", Rule::Ask);
    assert_eq!(ruled(of_sets, "plain").await, (1, silent));
    let of_tool = of_set.tool("plain", Rule::PreApproved);
    assert_eq!(ruled(of_tool.clone(), "plain").await, (0, RuleSource::PolicyTool));
    let of_function = of_tool.decide_with(|call| (call.arguments["number"] == 4).then_some(Rule::Ask));
    assert_eq!(ruled(of_function.clone(), "plain").await, (1, RuleSource::Function));
    let silent_function = of_function.decide_with(|_| None);
    assert_eq!(ruled(silent_function, "plain").await, (0, RuleSource::PolicyTool));
}

#[tokio::test]
async fn a_rule_for_a_call_holds_for_exactly_its_arguments_and_before_that_for_the_tool() {
    let with = |number: u8| {
        Policy::new().tool("plain", Rule::Ask).call("plain", json!({ "number": number }), Rule::PreApproved)
    };
    assert_eq!(ruled(with(4), "plain").await, (0, RuleSource::PolicyCall));
    assert_eq!(ruled(with(5), "plain").await, (1, RuleSource::PolicyTool), "other arguments");
    let asked = with(4).decide_with(|_| Some(Rule::Ask));
    assert_eq!(ruled(asked, "plain").await, (1, RuleSource::Function), "the function comes first");
    let blocked = Policy::new().call("plain", json!({ "number": 4 }), Rule::blocked("not four"));
    assert_eq!(ruled(blocked, "plain").await, (0, RuleSource::PolicyCall));
    let of_broken = Policy::new().call("broken", json!({}), Rule::PreApproved);
    assert_eq!(ruled(of_broken, "broken").await, (0, RuleSource::DeclaredTool), "a block stays a block");
}

#[test]
fn a_rule_for_a_call_survives_json_and_its_tool_must_exist() {
    let policy = Policy::new().call("plian", json!({ "number": 4 }), Rule::Ask);
    let text = serde_json::to_string(&policy).unwrap();
    let rule = r#"{"tool":"plian","arguments":{"number":4},"rule":"ask"}"#;
    assert!(text.contains(&format!(r#""calls":[{rule}]"#)), "{text}");
    let error = Runtime::builder().policy(serde_json::from_str(&text).unwrap()).build().unwrap_err();
    assert!(error.to_string().contains("unknown tool `plian`; did you mean `plain`?"), "{error}");
}

#[tokio::test]
async fn a_block_holds_in_every_mode_and_the_approver_is_not_asked() {
    for mode in [ApprovalMode::Prompt, ApprovalMode::ApproveAll, ApprovalMode::RejectAll] {
        let (result, asked, decision) = call(Runtime::builder().approval_mode(mode), "broken", json!({})).await;
        let error = result.unwrap_err();
        assert!(error.is_denied() && error.is_blocked() && !error.is_recoverable());
        assert_eq!(llm_do::error::chain(&error), "`calls` failed: `broken` is blocked: it is broken");
        assert_eq!((asked, decision), (0, (false, DecidedBy::Policy, RuleSource::DeclaredTool)));
    }
}

#[tokio::test]
async fn a_block_overrides_more_specific_rules() {
    let lenient = || Policy::new().tool("start", Rule::PreApproved).decide_with(|_| Some(Rule::PreApproved));
    assert_eq!(ruled(lenient(), "start").await, (0, RuleSource::DeclaredToolset("machine".into())));
    let free = || Policy::new().tool("broken", Rule::PreApproved).decide_with(|_| Some(Rule::PreApproved));
    assert_eq!(ruled(free(), "broken").await, (0, RuleSource::DeclaredTool));
    let night = Policy::new().toolset("silent", Rule::blocked("it is night")).tool("plain", Rule::PreApproved);
    assert_eq!(ruled(night, "plain").await, (0, RuleSource::PolicyToolset("silent".into())));
    let none = Policy::new().tool("runs", Rule::PreApproved).decide_with(|_| Some(Rule::blocked("no")));
    assert_eq!(ruled(none, "runs").await, (0, RuleSource::Function));
}

#[tokio::test]
async fn a_panic_of_the_policys_function_blocks_the_call() {
    let policy = Policy::new().decide_with(|_| panic!("no idea"));
    let (result, asked, (approved, ..)) = call(Runtime::builder().policy(policy), "runs", json!({})).await;
    assert!(
        llm_do::error::chain(&result.unwrap_err()).contains("the approval policy's `decide_with` function panicked")
    );
    assert_eq!((asked, approved), (0, false));
}

#[tokio::test]
async fn the_policys_function_sees_caller_callee_and_arguments() {
    let policy = Policy::new().decide_with(|call| {
        assert_eq!((call.tool, call.caller, call.by), ("plain", "calls", llm_do::event::Caller::Code));
        assert_eq!((call.kind, call.effect), (llm_do::event::ItemKind::Tool, llm_do::Effect::Undeclared));
        (*call.arguments == json!({ "number": 4 })).then_some(Rule::PreApproved)
    });
    assert_eq!(ruled(policy, "plain").await, (0, RuleSource::Function));
}

#[tokio::test]
async fn a_pre_approved_call_runs_in_mode_reject_all() {
    let builder = Runtime::builder().approval_mode(ApprovalMode::RejectAll);
    let (result, _, decision) = call(builder, "runs", json!({})).await;
    assert_eq!(result.unwrap(), 2);
    assert_eq!(decision, (true, DecidedBy::Policy, RuleSource::DeclaredTool));
}

#[tokio::test]
async fn the_users_own_call_runs_even_if_the_tool_is_blocked() {
    let policy = Policy::new().decide_with(|_| Some(Rule::blocked("never")));
    let recorder = Recorder::new();
    let runtime = Runtime::builder().policy(policy).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(broken {}).await.unwrap(), 3);
    assert_eq!(decisions(&recorder, "broken"), [(true, DecidedBy::Policy, RuleSource::User)]);
}

/// The result of a model's call of `tool`, and the decision.
async fn by_model(tool: &'static str, ends: bool) -> (Result<String, CallError>, (bool, DecidedBy, RuleSource)) {
    let (approver, recorder) = (Scripted::approving(), Recorder::new());
    let builder = Runtime::builder().force_model(calling(tool, json!({}))).end_on_denial(ends);
    let runtime = builder.approver(approver).sink(recorder.clone()).build().unwrap();
    let result = runtime.run(agent { input: "Go.".into() }).await;
    let [decision] = decisions(&recorder, tool).try_into().unwrap();
    (result, decision)
}

#[tokio::test]
async fn calls_by_models_and_by_code_have_the_same_rule() {
    for tool in ["asks", "runs", "broken"] {
        let (.., by_code) = call(Runtime::builder(), tool, json!({})).await;
        assert_eq!(by_model(tool, true).await.1, by_code);
    }
}

#[tokio::test]
async fn a_block_stops_the_run_or_is_reported_to_the_model_like_a_denial() {
    assert!(by_model("broken", true).await.0.unwrap_err().is_blocked());
    let told: Value = serde_json::from_str(&by_model("broken", false).await.0.unwrap()).unwrap();
    let expected = json!({
        "error": "`broken` is blocked: it is broken", "tool_name": "broken", "error_type": "permission",
    });
    assert_eq!(told, expected);
}

#[tokio::test]
async fn permission_errors_of_the_system_are_failures_and_not_denials() {
    let (told, (approved, ..)) = by_model("refused_by_the_system", false).await;
    assert!(approved);
    assert_eq!(told.unwrap(), "`refused_by_the_system` failed: permission denied");
}

#[test]
fn all_unknown_names_are_reported_together_with_suggestions() {
    let policy = Policy::new()
        .tool("plainn", Rule::Ask)
        .tool("strict", Rule::Ask)
        .tool("agent", Rule::Ask)
        .toolset("lenint", Rule::Ask)
        .toolset("plain", Rule::Ask)
        .worker("agents", WorkerRule::new().calls(true))
        .worker("plain", WorkerRule::new());
    let error = Runtime::builder().policy(policy).build().unwrap_err();
    let BuildError::Policy(faults) = &error else { panic!("{error}") };
    assert_eq!(
        *faults,
        [
            "unknown tool `plainn`; did you mean `plain`?",
            "unknown tool `strict`: it is a toolset; set its rule with `toolset`",
            "unknown toolset `lenint`; did you mean `lenient`?",
            "unknown toolset `plain`: it is a tool; set its rule with `tool`",
            "unknown worker `agents`; did you mean `agent`?",
            "unknown worker `plain`: it is a tool; set its rule with `tool`",
        ]
    );
    assert!(error.to_string().starts_with("the approval policy has invalid rules:\n  "));
}

#[test]
fn a_deserialized_policy_rejects_unknown_keys() {
    let read = |policy: Value| serde_json::from_value::<Policy>(policy).map(|policy| json!(policy));
    let whole = json!({
        "tools": { "a": "ask", "b": { "blocked": { "reason": "no" } } },
        "toolsets": { "c": "pre_approved" },
        "workers": { "calls": null, "attachments": true },
        "worker_overrides": { "d": { "calls": false, "attachments": null } },
    });
    assert_eq!(read(whole.clone()).unwrap(), whole);
    assert!(read(json!({ "tool": {} })).is_err());
    assert!(read(json!({ "workers": { "call": true } })).is_err());
    assert!(read(json!({ "tools": { "a": "block" } })).is_err());
}
