//! A link or folder of the path is replaced while the approver decides: the approved change goes nowhere else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use llm_do::Runtime;
use llm_do::approval::{ApprovalInbox, Decision};
use llm_do::prelude::*;
use llm_do::toolsets::filesystem::{filesystem_project, project};
use serde_json::json;

use super::Project;
use super::approval::{calling, preview};

/// Returns a project with two folders of equal content, and a link to the first.
fn linked() -> Project {
    let project = Project::new();
    for path in ["docs/t", "bin/t", "src"] {
        project.put(path, "same\n");
    }
    symlink("docs", project.root().join("l")).unwrap();
    project
}

/// Makes a call, and changes the tree before it is approved; returns the preview and the error.
async fn approved_after(
    project: &Project,
    (tool, arguments): (&str, llm_do::Value),
    change: impl FnOnce(&Path),
) -> (String, String) {
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().project_root(project.root()).approver(approver).build().unwrap();
    let call = calling { tool: tool.to_owned(), arguments };
    let run = tokio::spawn(async move { runtime.run(call).await });
    let pending = inbox.next().await.unwrap();
    let preview = pending.request().preview.clone().unwrap();
    change(&project.root());
    pending.respond(Decision::approve());
    (preview, llm_do::error::chain(&run.await.unwrap().unwrap_err()))
}

/// Returns the names in a folder.
fn names(project: &Project, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(project.root().join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn a_change_does_not_follow_a_link_that_was_replaced_while_the_approver_decided() {
    for (tool, arguments, real) in [
        ("write_file", json!({ "path": "l/new.sh", "content": "x" }), "docs/new.sh"),
        ("write_file", json!({ "path": "l/new/a.sh", "content": "x" }), "docs/new/a.sh"),
        ("write_file", json!({ "path": "l/t", "content": "x" }), "docs/t"),
        ("edit_file", json!({ "path": "l/t", "old_text": "same", "new_text": "x" }), "docs/t"),
        ("delete_file", json!({ "path": "l/t" }), "docs/t"),
        ("move_file", json!({ "from": "src", "to": "l/moved" }), "docs/moved"),
        ("move_file", json!({ "from": "l/t", "to": "moved" }), "docs/t"),
    ] {
        let project = linked();
        let (preview, error) = approved_after(&project, (tool, arguments), |root| {
            fs::remove_file(root.join("l")).unwrap();
            symlink("bin", root.join("l")).unwrap();
        })
        .await;
        assert!(preview.contains(&format!("`{real}`")), "the approver sees the real path: {preview}");
        let elsewhere = format!("`{real}` is not where the approver saw that the path leads");
        assert!(error.contains(&elsewhere), "{tool}: {error}");
        assert_eq!((names(&project, "docs"), names(&project, "bin")), (vec!["t".into()], vec!["t".into()]), "{tool}");
        assert_eq!((project.content("docs/t"), project.content("bin/t")), ("same\n".into(), "same\n".into()));
        assert!(project.has("src") && !project.has("moved"));
    }
}

#[tokio::test]
async fn a_folder_that_was_replaced_while_the_approver_decided_is_left_as_it_is() {
    for (tool, arguments) in [
        ("write_file", json!({ "path": "docs/new.sh", "content": "x" })),
        ("edit_file", json!({ "path": "docs/t", "old_text": "same", "new_text": "x" })),
        ("delete_file", json!({ "path": "docs/t" })),
        ("move_file", json!({ "from": "src", "to": "docs/moved" })),
    ] {
        let project = linked();
        let (_, error) = approved_after(&project, (tool, arguments), |root| {
            fs::rename(root.join("docs"), root.join("old")).unwrap();
            fs::rename(root.join("bin"), root.join("docs")).unwrap();
        })
        .await;
        assert!(error.contains("changed after the approver saw the difference"), "{tool}: {error}");
        assert_eq!((names(&project, "docs"), project.content("docs/t")), (vec!["t".into()], "same\n".into()), "{tool}");
    }
}

#[tokio::test]
async fn the_approver_sees_the_real_path_only_where_it_differs() {
    let project = linked();
    let write = |path: &str| json!({ "path": path, "content": "" });
    assert_eq!(preview(&project, "write_file", write("l/n")).await, "`l/n` leads to `docs/n`\nnew empty file `docs/n`");
    for path in ["docs/n", "./docs/n"] {
        assert_eq!(preview(&project, "write_file", write(path)).await, "new empty file `docs/n`");
    }
    let moved = preview(&project, "move_file", json!({ "from": "l/t", "to": "l/n/u" })).await;
    assert_eq!(moved, "moves `docs/t` to `docs/n/u`");
    let exists = preview(&project, "move_file", json!({ "from": "src", "to": "l/t" })).await;
    assert!(exists.starts_with("No preview: `docs/t` already exists"), "{exists}");
}

/// Writes two files of a new folder concurrently.
#[entry(toolsets = [filesystem_project])]
async fn writing_two(ctx: &CallContext<writing_two>) -> Result<()> {
    let write = |path: &str| ctx.call(project::write_file { path: path.into(), content: "one".into() });
    let (one, other) = tokio::join!(write("new/a.txt"), write("new/b.txt"));
    one?;
    other?;
    Ok(())
}

#[tokio::test]
async fn two_approved_files_of_a_missing_folder_are_both_written() {
    let project = Project::new();
    let (approver, mut inbox) = ApprovalInbox::new();
    let runtime = Runtime::builder().project_root(project.root()).approver(approver).build().unwrap();
    let run = tokio::spawn(async move { runtime.run(writing_two {}).await });
    let (one, other) = (inbox.next().await.unwrap(), inbox.next().await.unwrap());
    one.approve();
    other.approve();
    run.await.unwrap().unwrap();
    assert_eq!((project.content("new/a.txt"), project.content("new/b.txt")), ("one".into(), "one".into()));
}
