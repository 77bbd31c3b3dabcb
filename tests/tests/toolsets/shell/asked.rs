//! What the approver is shown about a command holds when it runs.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::approval::{ApprovalMode, Decision, Policy, Rule};
use llm_do::runtime::BuildError;
use llm_do::toolsets::shell::{Sandbox, Shell};
use llm_do::{Runtime, Value, error};
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
async fn an_approval_for_the_session_holds_for_the_same_settings_only() {
    let project = Project::plain();
    fs::create_dir(project.root().join("folder")).unwrap();
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let builder = Runtime::builder().project_root(project.root()).approve_with(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Decision::approve_for_session() }
    });
    let runtime = builder.build().unwrap();
    let plain = || Shell::new().sandbox(Sandbox::Off);
    for (settings, expected) in [
        (plain(), 1),
        (plain().timeout(std::time::Duration::from_secs(9)), 1),
        (plain().network(), 2),
        (plain().root("folder"), 3),
        (plain().env("A", "1"), 4),
        (plain().readable("/opt"), 5),
        (plain(), 5),
    ] {
        let start = runtime.start_named("shell", json!({ "command": "touch b" })).state(settings.clone());
        start.await.unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), expected, "{settings:?}");
    }
}

/// Runs a command with this rule for exactly these arguments; returns the warnings, and what the call returned.
async fn with_rule(project: &Project, arguments: Value, rule: Rule) -> Result<(Vec<String>, bool), BuildError> {
    let builder = Runtime::builder().project_root(project.root()).state(project.settings.clone());
    let policy = Policy::new().call("shell_asked", arguments, rule);
    let runtime = builder.policy(policy).approval_mode(ApprovalMode::RejectAll).build()?;
    let returned = runtime.run_named("shell", json!({ "command": "touch b" })).await;
    Ok((runtime.warnings().to_vec(), returned.is_ok()))
}

#[tokio::test]
async fn a_rule_that_names_no_sandbox_approves_no_command() {
    // Rules that were written in a sandbox which no longer works.
    let project = Project::plain();
    for sandbox in [None, Some(json!(null))] {
        let mut arguments = json!({ "command": "touch b" });
        if let Some(sandbox) = sandbox {
            arguments["sandbox"] = sandbox;
        }
        let (warnings, has_run) = with_rule(&project, arguments.clone(), Rule::PreApproved).await.unwrap();
        let named = "a rule approves nothing, and is ignored: no call of `shell_asked` can have the arguments";
        assert!(!has_run && warnings[0].starts_with(named) && warnings[0].contains("sandbox"), "{warnings:?}");
        let error = with_rule(&project, arguments, Rule::blocked("no")).await.unwrap_err().to_string();
        assert!(error.contains("sandbox"), "{error}");
    }
    for (sandbox, is_approved) in [("bwrap", false), ("landlock", false), ("none", true)] {
        let arguments = json!({ "command": "touch b", "sandbox": sandbox });
        let (warnings, has_run) = with_rule(&project, arguments, Rule::PreApproved).await.unwrap();
        assert_eq!((warnings, has_run), (Vec::new(), is_approved), "{sandbox}");
    }
    assert!(project.root().join("b").exists());
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
