//! What the approver sees.

use llm_do::approval::{ApprovalInbox, ApprovalRequest, Decision};
use llm_do::prelude::*;
use llm_do::toolsets::filesystem::{filesystem_project, project};
use llm_do::{CallError, Runtime};
use serde_json::json;

use super::Project;

/// Makes one call by its short name.
#[entry(toolsets = [filesystem_project])]
pub(super) async fn calling(
    ctx: &CallContext<calling>,
    tool: String,
    arguments: llm_do::Value,
) -> Result<llm_do::Value> {
    Ok(ctx.call_tool(&tool, arguments).await?)
}

/// Returns the request for a call, which is then decided.
pub(super) async fn asked(
    project: &Project,
    tool: &str,
    arguments: llm_do::Value,
    decision: Decision,
) -> (ApprovalRequest, Result<llm_do::Value, CallError>) {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().project_root(project.root()).approver(approver).build().unwrap();
    let call = calling { tool: tool.to_owned(), arguments };
    let run = tokio::spawn(async move { runtime.run(call).await });
    let pending = inbox.next().await.unwrap();
    let request = pending.request().clone();
    pending.respond(decision);
    (request, run.await.unwrap())
}

pub(super) async fn preview(project: &Project, tool: &str, arguments: llm_do::Value) -> String {
    asked(project, tool, arguments, Decision::deny("only looking")).await.0.preview.unwrap()
}

#[tokio::test]
async fn the_approver_sees_the_difference_that_a_write_would_make() {
    let project = Project::new();
    project.put("a.txt", "one\ntwo\n");
    let write = |content: &str| json!({ "path": "a.txt", "content": content });
    let (request, result) = asked(&project, "write_file", write("one\n2\n"), Decision::deny("no")).await;
    assert_eq!(request.summary(), "write a.txt");
    assert_eq!(request.preview.unwrap(), "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2");
    assert!(result.is_err() && project.content("a.txt") == "one\ntwo\n", "nothing changes before the approval");
    assert_eq!(
        preview(&project, "write_file", write("one\ntwo\n")).await,
        "no change: `a.txt` already has this content"
    );

    let (_, result) = asked(&project, "write_file", write("one\n2\n"), Decision::approve()).await;
    assert_eq!((result.is_ok(), project.content("a.txt")), (true, "one\n2\n".into()));
}

#[tokio::test]
async fn the_approver_sees_new_files_whole() {
    let project = Project::new();
    let write = |content: &str| json!({ "path": "new/a.txt", "content": content });
    let whole = "--- /dev/null\n+++ new/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two";
    assert_eq!(preview(&project, "write_file", write("one\ntwo\n")).await, whole);
    assert_eq!(preview(&project, "write_file", write("")).await, "new empty file `new/a.txt`");
    assert!(!project.has("new"), "a preview creates nothing");
}

#[tokio::test]
async fn the_approver_sees_the_difference_that_an_edit_would_make() {
    let project = Project::new();
    project.put("a.txt", (1..=20).map(|line| line.to_string()).collect::<Vec<_>>().join("\n"));
    let edit = json!({ "path": "a.txt", "old_text": "10\n", "new_text": "ten\n" });
    let expected = "--- a.txt\n+++ a.txt\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13";
    assert_eq!(preview(&project, "edit_file", edit).await, expected);
}

#[tokio::test]
async fn the_approver_sees_what_a_deletion_would_remove() {
    let project = Project::new();
    project.put("a.txt", "one\n");
    project.put("b.bin", b"\0\0\0");
    let whole = "--- a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one";
    assert_eq!(preview(&project, "delete_file", json!({ "path": "a.txt" })).await, whole);
    assert_eq!(preview(&project, "delete_file", json!({ "path": "b.bin" })).await, "deletes `b.bin`: 3 bytes");
}

#[tokio::test]
async fn a_call_that_would_fail_shows_why_to_the_approver() {
    let project = Project::new();
    project.put("a.txt", "one");
    let edit = json!({ "path": "a.txt", "old_text": "two", "new_text": "2" });
    assert!(preview(&project, "edit_file", edit).await.starts_with("No preview: `old_text` was not found in `a.txt`"));
    let outside = preview(&project, "write_file", json!({ "path": "../outside/secret.txt", "content": "" })).await;
    assert!(outside.starts_with("No preview: `../outside/secret.txt` is outside the root folder"), "{outside}");
    let protected = preview(&project, "write_file", json!({ "path": ".git/config", "content": "" })).await;
    assert!(protected.starts_with("No preview: `.git` is protected"), "{protected}");
}

#[tokio::test]
async fn a_file_that_changes_while_the_approver_decides_is_left_as_it_is() {
    for (tool, arguments) in [
        ("write_file", json!({ "path": "a.txt", "content": "new" })),
        ("write_file", json!({ "path": "b/new.txt", "content": "new" })),
        ("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "new" })),
        ("delete_file", json!({ "path": "a.txt" })),
    ] {
        let project = Project::new();
        project.put("a.txt", "one");
        let (approver, mut inbox) = ApprovalInbox::new();
        let runtime = Runtime::builder().project_root(project.root()).approver(approver).build().unwrap();
        let call = calling { tool: tool.to_owned(), arguments };
        let run = tokio::spawn(async move { runtime.run(call).await });
        let pending = inbox.next().await.unwrap();
        project.put("a.txt", "one and more");
        project.put("b/new.txt", "one and more");
        pending.approve();
        let text = llm_do::error::chain(&run.await.unwrap().unwrap_err());
        let changed = "changed after the approver saw the difference; read it again, and repeat the call";
        assert!(text.ends_with(changed), "{tool}: {text}");
        assert_eq!(project.content("a.txt"), "one and more");
        assert_eq!(project.content("b/new.txt"), "one and more");
    }
}

#[tokio::test]
async fn the_approver_sees_that_a_binary_file_is_replaced() {
    let project = Project::new();
    project.put("a.bin", b"\0\0\0");
    let shown = preview(&project, "write_file", json!({ "path": "a.bin", "content": "x" })).await;
    assert!(shown.starts_with("replaces all 3 bytes of `a.bin`, with:\n--- /dev/null\n+++ a.bin\n"), "{shown}");
}

#[tokio::test]
async fn a_huge_difference_is_cut_with_the_number_of_missing_characters() {
    let project = Project::new();
    let content = "x".repeat(300_000);
    let shown = preview(&project, "write_file", json!({ "path": "a.txt", "content": content })).await;
    assert!(shown.chars().count() < 100_100 && shown.ends_with(" more characters of the difference are not shown"));
}

#[tokio::test]
async fn reading_needs_no_approval_and_every_change_does() {
    let project = Project::new();
    project.put("a.txt", "one");
    let runtime = Runtime::builder().project_root(project.root()).build().unwrap();
    let call = |tool: &str, arguments| runtime.run(calling { tool: tool.to_owned(), arguments });
    for (tool, arguments) in [
        ("read_file", json!({ "path": "a.txt" })),
        ("list_files", json!({})),
        ("search_files", json!({ "regex": "one" })),
    ] {
        assert!(call(tool, arguments).await.is_ok(), "{tool}");
    }
    for (tool, arguments) in [
        ("write_file", json!({ "path": "a.txt", "content": "" })),
        ("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "" })),
        ("move_file", json!({ "from": "a.txt", "to": "b.txt" })),
        ("delete_file", json!({ "path": "a.txt" })),
    ] {
        assert!(call(tool, arguments).await.unwrap_err().is_denied(), "{tool}");
    }
    assert_eq!(project.content("a.txt"), "one");
}

/// Edits a file in code.
#[entry(toolsets = [filesystem_project])]
async fn in_code(ctx: &CallContext<in_code>) -> Result<String> {
    let write = project::write_file { path: "a.txt".into(), content: "one".into() };
    ctx.call(write).await?;
    Ok(ctx.call(project::read_file { max_chars: 9, ..project::read_file::new("a.txt".into()) }).await?)
}

#[tokio::test]
async fn code_calls_the_tools_by_type() {
    let project = Project::new();
    let builder = Runtime::builder().project_root(project.root());
    let runtime = builder.approval_mode(llm_do::approval::ApprovalMode::ApproveAll).build().unwrap();
    assert_eq!(runtime.run(in_code {}).await.unwrap(), "     1\tone");
}
