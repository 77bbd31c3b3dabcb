//! The rules of the program come before those of a project's files, also before more specific ones.

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::prelude::*;
use llm_do::project::Project;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::ScriptedModel;
use llm_do::{Effect, Value, json};
use tempfile::TempDir;

use super::{builder, erase, folder, open, write};

const CLEANER: &str = "---\nname: cleaner\ntools: [erase, wipe]\n---\nClean up.\n";
const WIPE: &str = "type: function\nname: wipe\nfunction: erase\n";

toolset! {
    /// What destroys.
    destroyers = [erase];
}

/// A project whose policy has these rules.
fn project(rules: &str) -> TempDir {
    let manifest = format!(r#"{{ "version": 1, "entry": {{ "agent": "cleaner" }}, "policy": {rules} }}"#);
    folder(&[("project.json", &manifest), ("main.worker", CLEANER), ("tools/wipe.tool", WIPE)])
}

/// Calls a tool in a project under a policy of the program.
async fn called(project: Project, policy: Policy, tool: &str) -> Result<Value, CallError> {
    let model = ScriptedModel::new().call(tool, json!({ "what": "a", "force": true })).text("done");
    let builder = builder().only(["destroyers"]).policy(policy).project(project).force_model(model);
    let runtime = builder.end_on_denial(true).build().unwrap();
    runtime.run_named("cleaner", json!({ "input": "Clean." })).await
}

#[tokio::test]
async fn a_rule_of_the_program_comes_before_a_more_specific_one_of_the_project() {
    let call =
        r#"{ "calls": [{ "tool": "erase", "arguments": { "what": "a", "force": true }, "rule": "pre_approved" }] }"#;
    let tool = r#"{ "tools": { "erase": "pre_approved" } }"#;
    for (rules, policy) in [
        (call, Policy::new().tool("erase", Rule::Ask)),
        (call, Policy::new().toolset("destroyers", Rule::Ask)),
        (tool, Policy::new().toolset("destroyers", Rule::Ask)),
    ] {
        let folder = project(rules);
        assert_eq!(called(open(&folder), Policy::new(), "erase").await.unwrap(), "done", "{rules}");
        let error = called(open(&folder), policy, "erase").await.unwrap_err();
        assert!(error.is_denied() && !error.is_blocked(), "{rules}: {error}");
    }
}

#[test]
fn a_rule_for_a_call_that_no_call_can_match_has_its_file_and_line() {
    let rules = |rule: &str| {
        let stale = format!(r#"{{ "tool": "erase", "arguments": {{ "gone": 1 }}, "rule": "{rule}" }}"#);
        let valid = r#"{ "tool": "erase", "arguments": { "what": "a", "force": true }, "rule": "ask" }"#;
        format!("{{ \"calls\": [\n{stale},\n{valid}\n] }}")
    };
    let folder = folder(&[("policy.json", &rules("pre_approved"))]);
    let read = || Policy::from_file(folder.path().join("policy.json")).unwrap();
    let runtime = builder().policy(read()).build().unwrap();
    let [warning] = runtime.warnings() else { panic!("{:?}", runtime.warnings()) };
    let expected = "policy.json:2: a rule approves nothing, and is ignored: no call of `erase` can have";
    assert!(warning.contains(expected), "{warning}");
    write(folder.path(), "policy.json", &rules("ask"));
    let error = builder().policy(read()).build().unwrap_err().to_string();
    assert!(error.contains("policy.json:2: no call of `erase` can have"), "{error}");
}

#[tokio::test]
async fn a_rule_of_the_program_for_a_tool_holds_under_the_names_that_a_project_gives_it() {
    let folder = project(r#"{ "tools": { "wipe": "pre_approved" } }"#);
    assert_eq!(called(open(&folder), Policy::new(), "wipe").await.unwrap(), "done");
    let asked = called(open(&folder), Policy::new().tool("erase", Rule::Ask), "wipe").await.unwrap_err();
    assert!(asked.is_denied(), "{asked}");
    let blocked = called(open(&folder), Policy::new().tool("erase", Rule::blocked("never")), "wipe").await;
    assert!(blocked.unwrap_err().is_blocked());
}

#[test]
fn a_project_cannot_weaken_what_the_program_declares_destructive() {
    let build =
        |folder: &TempDir, policy: Policy| builder().only(["destroyers"]).policy(policy).project(open(folder)).build();
    for name in ["erase", "wipe"] {
        let folder = project(&format!(r#"{{ "effects": {{ "{name}": "read_only" }} }}"#));
        let error = build(&folder, Policy::new()).unwrap_err().to_string();
        let expected = format!("project.json:1: `effects`: `{name}` is destructive: a project cannot change that");
        assert!(error.contains(&expected), "{error}");
        let runtime = build(&folder, Policy::new().effect(name, Effect::ReadOnly)).unwrap();
        assert_eq!(runtime.registry().get(name).unwrap().effect(), Effect::ReadOnly, "the program decides");
    }
    let folder = project(r#"{ "effects": { "destroyers": "read_only" } }"#);
    let runtime = build(&folder, Policy::new()).unwrap();
    assert_eq!(runtime.registry().get("erase").unwrap().effect(), Effect::Destructive);
}

#[test]
fn a_condition_that_can_decide_nothing_has_its_file_and_line() {
    let rules =
        "{ \"calls\": [\n{ \"tool\": \"erase\",\n\"when\": { \"required\": [\"wat\"] }, \"rule\": \"blocked\" }\n] }";
    let folder = folder(&[("policy.json", rules)]);
    let policy = Policy::from_file(folder.path().join("policy.json")).unwrap();
    let error = builder().policy(policy).build().unwrap_err().to_string();
    let expected = "policy.json:3: the condition of a rule for `erase`: `when.required`: unknown property `wat`; did you mean `what`?";
    assert!(error.contains(expected), "{error}");
}

#[tokio::test]
async fn a_tool_file_may_block_its_tool() {
    let manifest = r#"{ "version": 1, "entry": { "agent": "cleaner" } }"#;
    let wipe = format!("{WIPE}approval: blocked\n");
    let folder = folder(&[("project.json", manifest), ("main.worker", CLEANER), ("tools/wipe.tool", &wipe)]);
    assert!(called(open(&folder), Policy::new(), "wipe").await.unwrap_err().is_blocked());
}

#[tokio::test]
async fn a_blocked_tool_is_blocked_under_every_name() {
    let folder = project(r#"{ "tools": { "wipe": "pre_approved", "erase": { "blocked": { "reason": "never" } } } }"#);
    assert!(called(open(&folder), Policy::new(), "wipe").await.unwrap_err().is_blocked());
}

#[tokio::test]
async fn a_block_of_the_project_holds_beside_rules_of_the_program_for_other_names() {
    let folder = project(r#"{ "tools": { "erase": { "blocked": { "reason": "never" } } } }"#);
    let policy = Policy::new().toolset("destroyers", Rule::PreApproved);
    assert!(called(open(&folder), policy, "erase").await.unwrap_err().is_blocked());
}

#[tokio::test]
async fn the_mode_that_a_program_sets_comes_first_also_if_it_is_the_default() {
    let manifest =
        r#"{ "version": 1, "entry": { "agent": "cleaner" }, "runtime": { "approval_mode": "approve_all" } }"#;
    let folder = folder(&[("project.json", manifest), ("main.worker", CLEANER), ("tools/wipe.tool", WIPE)]);
    let model = || ScriptedModel::new().call("erase", json!({ "what": "a", "force": true })).text("done");
    let run = async |builder: RuntimeBuilder| {
        let runtime = builder.project(open(&folder)).force_model(model()).build().unwrap();
        runtime.run_named("cleaner", json!({ "input": "Clean." })).await
    };
    assert_eq!(run(builder()).await.unwrap(), "done");
    assert!(run(builder().approval_mode(ApprovalMode::Prompt)).await.unwrap_err().is_denied());
}
