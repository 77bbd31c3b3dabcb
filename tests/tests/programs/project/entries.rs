//! Which files belong to a project, what its entry is, and what its settings do.

use llm_do::approval::{ApprovalMode, Policy, Rule};
use llm_do::json;
use llm_do::project::{Project, WithProject};
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{ScriptedModel, TestModel};

use super::{builder, folder, open};

const GREETER: &str = "---\nname: greeter\n---\nGreet the person.\n";
const EDITOR: &str = "---\nname: editor\n---\nEdit the text.\n";
const CLEANER: &str = "---\nname: cleaner\ntools: [erase]\n---\nClean up.\n";

/// A model that calls `erase` once.
fn erasing() -> ScriptedModel {
    ScriptedModel::new().call("erase", json!({ "what": "old.txt", "force": true })).text("done")
}

#[test]
fn the_entry_is_the_worker_in_the_file_main() {
    let folder = folder(&[("main.worker", GREETER), ("workers/editor.worker", EDITOR)]);
    assert_eq!(open(&folder).entry(), Some("greeter"));
}

#[test]
fn the_only_worker_is_the_entry() {
    let only = folder(&[("workers/editor.agent", EDITOR)]);
    assert_eq!(open(&only).entry(), Some("editor"));
    let two = folder(&[("a.worker", GREETER), ("b.worker", EDITOR)]);
    assert_eq!(open(&two).entry(), None);
}

#[test]
fn the_manifest_names_the_entry_its_arguments_and_the_files() {
    let manifest = r#"{
        "version": 1,
        "entry": { "agent": "editor", "args": { "input": "teh" } },
        "agent_files": ["parts/editor.agent"],
        "allow_cli_input": false
    }"#;
    let folder = folder(&[("project.json", manifest), ("parts/editor.agent", EDITOR), ("faulty.worker", "not listed")]);
    let project = Project::open(folder.path().join("project.json")).unwrap();
    assert_eq!(project.entry(), Some("editor"));
    assert_eq!(project.arguments(), Some(&json!({ "input": "teh" })));
    assert!(!project.takes_input());
    assert_eq!(project.root(), folder.path());
}

#[test]
fn hidden_files_and_other_folders_are_left_out() {
    let files = [
        ("main.worker", GREETER),
        (".old.worker", "faulty"),
        ("workers/.git/a.worker", "faulty"),
        ("src/b.worker", "faulty"),
    ];
    assert_eq!(open(&folder(&files)).entry(), Some("greeter"));
}

#[cfg(not(feature = "script"))]
#[test]
fn scripts_are_left_out_with_a_warning() {
    let folder = folder(&[("main.worker", GREETER), ("tools/count.py", "def count(): ...")]);
    assert_eq!(
        super::warnings(&folder, &open(&folder)),
        ["tools/count.py: left out: scripts need the feature `script` of `llm-do`"]
    );
}

#[tokio::test]
async fn workers_of_a_project_run_with_the_tools_of_the_program() {
    let worker = "---\nname: calculator\ntools: [add]\n---\nCompute.\n";
    let folder = folder(&[("main.worker", worker)]);
    let model = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).text("5");
    let runtime = builder().project(open(&folder)).force_model(model).build().unwrap();
    assert_eq!(runtime.run_named("calculator", json!({ "input": "2 + 3" })).await.unwrap(), "5");
}

#[tokio::test]
async fn files_of_prompts_are_read_below_the_projects_folder() {
    let folder = folder(&[("main.worker", GREETER), ("note.txt", "Hello")]);
    let runtime = builder().project(open(&folder)).force_model(TestModel::new().text("ok")).build().unwrap();
    let prompt = |path: &str| json!({ "input": "Read.", "attachments": [path] });
    runtime.run_named("greeter", prompt("note.txt")).await.unwrap();
    let error = runtime.run_named("greeter", prompt("../note.txt")).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("not below the project's root"), "{error:?}");
}

#[tokio::test]
async fn the_policy_of_a_project_applies_and_that_of_the_program_comes_first() {
    let manifest =
        |policy: &str| format!(r#"{{ "version": 1, "entry": {{ "agent": "cleaner" }}, "policy": {policy} }}"#);
    let inline = manifest(r#"{ "tools": { "erase": "pre_approved" } }"#);
    let in_file = manifest(r#""policy.json""#);
    let policy = r#"{ "tools": { "erase": "pre_approved" } }"#;
    for manifest in [inline, in_file] {
        let folder = folder(&[("project.json", &manifest), ("main.worker", CLEANER), ("policy.json", policy)]);
        let run = async |policy: Policy| {
            let builder = builder().policy(policy).project(open(&folder)).force_model(erasing());
            let runtime = builder.end_on_denial(true).build().unwrap();
            runtime.run_named("cleaner", json!({ "input": "Clean." })).await
        };
        assert_eq!(run(Policy::new()).await.unwrap(), "done");
        let error = run(Policy::new().tool("erase", Rule::blocked("never"))).await.unwrap_err();
        assert!(error.is_blocked(), "{error}");
    }
}

#[tokio::test]
async fn the_settings_of_a_manifest_apply() {
    let settings = r#"{ "approval_mode": "reject_all" }"#;
    let manifest = format!(r#"{{ "version": 1, "entry": {{ "agent": "cleaner" }}, "runtime": {settings} }}"#);
    let folder = folder(&[("project.json", &manifest), ("main.worker", CLEANER)]);
    let run = async |mode: Option<ApprovalMode>| {
        let builder = mode.into_iter().fold(builder(), RuntimeBuilder::approval_mode);
        let model = erasing();
        let runtime = builder.project(open(&folder)).force_model(model.clone()).build().unwrap();
        runtime.run_named("cleaner", json!({ "input": "Clean." })).await.unwrap();
        format!("{:?}", model.requests().last().unwrap().messages)
    };
    assert!(run(None).await.contains("permission"), "the denial is returned to the model");
    assert!(
        run(Some(ApprovalMode::ApproveAll)).await.contains("erased old.txt"),
        "the mode of the program comes first"
    );
}

#[tokio::test]
async fn a_manifest_ends_the_run_on_a_denial_and_never_keeps_one_going() {
    for (settings, by_program, ends) in [
        (r"{}", false, false),
        (r#"{ "end_on_denial": true }"#, false, true),
        (r#"{ "end_on_denial": false }"#, true, true),
        (r#"{ "return_permission_errors": false }"#, false, true),
        (r#"{ "return_permission_errors": true }"#, true, true),
        (r#"{ "return_permission_errors": false, "end_on_denial": false }"#, false, false),
    ] {
        let manifest = format!(r#"{{ "version": 1, "entry": {{ "agent": "cleaner" }}, "runtime": {settings} }}"#);
        let folder = folder(&[("project.json", &manifest), ("main.worker", CLEANER)]);
        let builder = builder().approval_mode(ApprovalMode::RejectAll).end_on_denial(by_program);
        let runtime = builder.project(open(&folder)).force_model(erasing()).build().unwrap();
        let result = runtime.run_named("cleaner", json!({ "input": "Clean." })).await;
        assert_eq!(result.is_err_and(|error| error.is_denied()), ends, "{settings}, {by_program}");
    }
}

#[test]
fn a_missing_project_is_an_error() {
    let error = Project::open("no/such/folder").unwrap_err();
    assert_eq!(error.faults(), ["no/such/folder: no such project: expected a folder, or a file `project.json`"]);
}
