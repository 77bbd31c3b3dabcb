//! What a command cannot do where Landlock is the sandbox, since `bwrap` does not work.

use std::fs;
use std::net::TcpListener;

use llm_do::toolsets::shell::{Sandbox, Shell};

use super::Project;

/// A project without `bwrap`; `None` if the kernel lacks Landlock, with the reason printed.
#[allow(clippy::print_stderr, reason = "the reason for a skipped test")]
async fn project(settings: Shell) -> Option<Project> {
    let project = Project::new(settings.bwrap("/missing/bwrap"));
    let required = Project::new(Shell::new().bwrap("/missing/bwrap").sandbox(Sandbox::Required));
    if required.approved("true").await.is_ok() {
        return Some(project);
    }
    eprintln!("skipped: this kernel has no Landlock");
    None
}

async fn script(project: &Project, script: &str) -> String {
    fs::write(project.root().join("run.sh"), script).unwrap();
    project.approved("sh run.sh").await.unwrap()
}

#[tokio::test]
async fn a_command_changes_the_project_and_nothing_else() {
    let Some(project) = project(Shell::new()).await else { return };
    let outside = project.outer.path().join("escaped");
    let answer = script(
        &project,
        "echo in > b; mkdir c; mv b c/b; echo out > ../escaped; echo out > /etc/escaped; : > /etc/passwd; echo x > /dev/null",
    )
    .await;
    assert!(answer.contains("Permission denied"), "{answer}");
    assert_eq!(fs::read_to_string(project.root().join("c/b")).unwrap(), "in\n");
    assert!(!outside.exists() && !fs::exists("/etc/escaped").unwrap());
    assert!(!fs::read_to_string("/etc/passwd").unwrap().is_empty());
}

#[tokio::test]
async fn files_of_users_and_of_other_projects_cannot_be_read() {
    let Some(project) = project(Shell::new()).await else { return };
    let answer = script(&project, "cat ../secret.txt; ls -A /root /home /run; ls ..").await;
    assert!(!answer.contains("another project") && answer.matches("Permission denied").count() >= 4, "{answer}");
    std::os::unix::fs::symlink(project.outer.path().join("secret.txt"), project.root().join("link")).unwrap();
    assert!(project.unasked("cat link").await.unwrap().contains("Permission denied"));
}

#[tokio::test]
async fn a_reading_command_needs_no_approval_and_changes_nothing() {
    let Some(project) = project(Shell::new()).await else { return };
    assert_eq!(project.unasked("sort a.txt").await.unwrap(), "exit status: 0\nstdout:\none\ntwo\n");
    assert!(project.needs_approval("touch b").await);
    let allowed = Project::new(Shell::new().bwrap("/missing/bwrap").allow("touch"));
    assert_eq!(allowed.unasked("touch b").await.unwrap(), "exit status: 0");
}

#[tokio::test]
async fn the_network_is_reached_only_if_the_application_allows_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}'", listener.local_addr().unwrap().port());
    let Some(refused) = project(Shell::new()).await else { return };
    let answer = refused.approved(&connect).await.unwrap();
    assert!(answer.contains("Operation not permitted"), "{answer}");
    let allowed = project(Shell::new().network()).await.unwrap();
    assert_eq!(allowed.approved(&connect).await.unwrap(), "exit status: 0");
}

#[tokio::test]
async fn this_process_is_not_confined_afterwards() {
    let Some(project) = project(Shell::new()).await else { return };
    project.approved("true").await.unwrap();
    fs::write(project.outer.path().join("outside"), "x").unwrap();
    TcpListener::bind("127.0.0.1:0").unwrap();
}

#[tokio::test]
async fn the_preview_states_that_the_repository_can_be_changed() {
    let Some(project) = project(Shell::new()).await else { return };
    let shown = project.preview("touch b").await;
    assert!(
        shown.contains("in a sandbox that can change only this folder, including `.git`, without network"),
        "{shown}"
    );
}
