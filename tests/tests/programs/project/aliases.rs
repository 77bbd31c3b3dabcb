//! Tool files: other names of linked tools.

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::{Effect, json};

use super::{builder, folder, open};

const NEXT: &str = "type: function\nfunction: add\ndescription: Return the next number.\narguments: { b: 1 }\n";

fn with_tool(name: &str, text: &str) -> RuntimeBuilder {
    let folder = folder(&[(&format!("tools/{name}.tool"), text)]);
    builder().project(open(&folder))
}

#[tokio::test]
async fn a_tool_file_gives_a_tool_another_name_description_and_defaults() {
    let runtime = with_tool("next", NEXT).build().unwrap();
    let next = runtime.registry().get("next").unwrap();
    assert_eq!(next.description(), "Return the next number.");
    assert_eq!(next.parameters()["required"], json!(["a"]));
    assert_eq!(next.parameters()["properties"]["b"]["default"], 1);
    assert_eq!(next.effect(), Effect::ReadOnly);
    assert!(next.location().ends_with("next.tool"), "{}", next.location());
    assert_eq!(runtime.run_named("next", json!({ "a": 4 })).await.unwrap(), 5);
    assert_eq!(runtime.run_named("next", json!({ "a": 4, "b": 2 })).await.unwrap(), 6);
    assert_eq!(runtime.run_named("add", json!({ "a": 4, "b": 2 })).await.unwrap(), 6, "the tool keeps its name");
}

#[tokio::test]
async fn a_call_under_another_name_is_validated_like_one_of_the_tool() {
    let runtime = with_tool("next", NEXT).build().unwrap();
    let error = runtime.run_named("next", json!({ "a": "four" })).await.unwrap_err();
    assert!(error.to_string().contains("next"), "{error}");
}

/// Calls the other name, so that a rule decides.
#[tool(toolsets = ["wipe"])]
async fn cleaning(ctx: &CallContext<cleaning>) -> Result<String> {
    let what = json!({ "what": "a" });
    Ok(ctx.call_tool("wipe", what).await?.as_str().unwrap_or_default().to_owned())
}

const WIPE: &str = "type: function\nname: wipe\nfunction: erase\narguments: { force: false }\n";

async fn wiped(file: &str, policy: Policy) -> Result<String, CallError> {
    let builder = with_tool("wipe", file).only(["cleaning"]).policy(policy);
    let runtime = builder.approval_mode(ApprovalMode::RejectAll).build().unwrap();
    runtime.run(cleaning {}).await
}

#[tokio::test]
async fn the_rule_of_the_tool_holds_unless_the_file_gives_one() {
    assert!(wiped(WIPE, Policy::new()).await.unwrap_err().is_denied());
    let approved = format!("{WIPE}approval: pre_approved\n");
    assert_eq!(wiped(&approved, Policy::new()).await.unwrap(), "erased a, force: false");
}

#[tokio::test]
async fn rules_of_a_policy_for_the_tool_hold_under_its_other_names() {
    let approved = format!("{WIPE}approval: pre_approved\n");
    let blocked = Policy::new().tool("erase", Rule::blocked("never"));
    assert!(wiped(&approved, blocked).await.unwrap_err().is_blocked());
    assert!(wiped(&approved, Policy::new().tool("erase", Rule::Ask)).await.unwrap_err().is_denied());
    let own = Policy::new().tool("erase", Rule::Ask).tool("wipe", Rule::PreApproved);
    assert!(wiped(WIPE, own).await.is_ok(), "a rule for the other name itself comes first");
}

#[tokio::test]
async fn a_tool_of_a_stateful_toolset_may_have_another_name() {
    let folder = folder(&[
        ("note.txt", "Hello"),
        (
            "tools/notes.tool",
            "type: function\nname: read_note\nfunction: project_read_file\narguments: { path: note.txt }\n",
        ),
    ]);
    let runtime = builder().project(open(&folder)).build().unwrap();
    let read = runtime.run_named("read_note", json!({})).await.unwrap();
    assert!(read.to_string().contains("Hello"), "{read}");
}

#[tokio::test]
async fn a_tool_file_may_define_a_worker() {
    let text = "---\ntype: agent\nname: editor\n---\nEdit.\n";
    let model = llm_do::testing::TestModel::new().text("edited");
    let runtime = with_tool("editor", text).force_model(model).build().unwrap();
    assert_eq!(runtime.run_named("editor", json!({ "input": "teh" })).await.unwrap(), "edited");
}
