//! What the approver is shown about a command holds when it runs.

use std::fs;
use std::os::unix::fs::symlink;

use llm_do::approval::Decision;
use llm_do::toolsets::shell::{Sandbox, Shell};
use llm_do::{Runtime, error};
use serde_json::json;

use super::{Project, sandboxes};

#[tokio::test]
async fn a_command_does_not_run_in_a_weaker_sandbox_than_the_approver_saw() {
    if !sandboxes().await.contains(&Sandbox::Bwrap) {
        return;
    }
    let path = std::env::var_os("PATH").unwrap();
    let bwrap = std::env::split_paths(&path).map(|folder| folder.join("bwrap")).find(|file| file.exists()).unwrap();
    let project = Project::new(Shell::new());
    let link = project.outer.path().join("bwrap");
    symlink(bwrap, &link).unwrap();
    let builder = Runtime::builder().project_root(project.root()).state(Shell::new().bwrap(&link));
    let builder = builder.approve_with(move |request| {
        assert!(request.preview.unwrap().contains("in a sandbox"));
        fs::remove_file(&link).unwrap();
        async { Decision::approve() }
    });
    let returned = builder.build().unwrap().run_named("shell", json!({ "command": "touch b" })).await;
    let error = error::chain(&returned.unwrap_err());
    assert!(error.contains("approved for a sandbox of `bwrap`"), "{error}");
    assert!(!project.root().join("b").exists());
}

#[tokio::test]
async fn a_long_command_does_not_push_the_sandbox_out_of_the_preview() {
    let command = format!("touch {}", "a ".repeat(40_000));
    let mut projects: Vec<_> = sandboxes().await.into_iter().map(|it| Project::new(Shell::new().sandbox(it))).collect();
    projects.push(Project::plain());
    for project in projects {
        let shown = project.preview(&command).await;
        let start: String = shown.chars().take(1_000).collect();
        assert!(start.contains("in a sandbox") || start.contains("WITHOUT a sandbox"), "{start}");
    }
}
