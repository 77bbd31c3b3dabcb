//! Dry runs of commands: those that read run.

use llm_do::Runtime;
use llm_do::dry_run::{PlannedApproval, PlannedKind};
use llm_do::toolsets::shell::{Sandbox, Shell};
use serde_json::json;

use super::Project;

#[tokio::test]
async fn commands_that_read_run_and_others_are_planned_also_if_a_rule_allows_them() {
    let project = Project::new(Shell::new().sandbox(Sandbox::Off).allow("touch allowed.txt"));
    let runtime = Runtime::builder().project_root(project.root()).state(project.settings.clone()).build().unwrap();
    let start = |command: &str| runtime.start_named("shell", json!({ "command": command })).dry_run();
    let read = start("cat a.txt");
    let handle = read.handle();
    assert!(read.await.unwrap().as_str().unwrap().contains("two"));
    assert!(handle.plan().calls.is_empty());
    for (command, name, what, approval) in [
        ("touch allowed.txt", "command", PlannedKind::Effect, PlannedApproval::NotNeeded),
        ("touch asked.txt", "shell_asked", PlannedKind::Tool, PlannedApproval::Asked),
    ] {
        let changing = start(command);
        let handle = changing.handle();
        assert!(changing.await.unwrap_err().is_dry_run(), "{command}");
        let plan = handle.plan();
        let call = &plan.calls[0];
        assert_eq!((&*call.name, call.what, call.approval), (name, what, approval), "{plan}");
        assert_eq!(call.arguments["command"], command);
    }
    assert!(!project.root().join("allowed.txt").exists() && !project.root().join("asked.txt").exists());
}
