//! What an approved command cannot do in the sandbox.

use std::fs;
use std::net::TcpListener;

use llm_do::toolsets::shell::Shell;

use super::{Project, has_sandbox};

/// Runs a script that is approved, in the sandbox.
async fn script(project: &Project, script: &str) -> String {
    fs::write(project.root().join("run.sh"), script).unwrap();
    project.approved("sh run.sh").await.unwrap()
}

#[tokio::test]
async fn a_command_changes_the_project_and_nothing_else() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    let answer =
        script(&project, "echo in > b; echo out > ../escaped; echo out > /usr/escaped; echo out > /etc/escaped").await;
    assert!(answer.contains("Read-only file system"), "{answer}");
    assert_eq!(fs::read_to_string(project.root().join("b")).unwrap(), "in\n");
    assert!(!project.outer.path().join("escaped").exists() && !fs::exists("/usr/escaped").unwrap());
}

#[tokio::test]
async fn git_metadata_cannot_be_changed_moved_or_replaced() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    script(
        &project,
        "echo x > .git/config; mkdir .git/hooks; mv .git gone; rm -rf .git; umount .git; echo x > .git/config",
    )
    .await;
    let git = project.root().join(".git");
    assert_eq!(fs::read_to_string(git.join("config")).unwrap(), "[core]\n");
    assert!(!git.join("hooks").exists());
}

#[tokio::test]
async fn files_of_users_and_of_other_projects_are_not_visible() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    let answer = script(&project, "cat ../secret.txt; ls -A /root /home /run").await;
    assert!(!answer.contains("another project") && answer.contains("No such file"), "{answer}");
    assert!(project.unasked("cat ../secret.txt").await.unwrap().contains("No such file"));
}

#[tokio::test]
async fn a_symbolic_link_out_of_the_project_leads_nowhere() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    std::os::unix::fs::symlink(project.outer.path().join("secret.txt"), project.root().join("link")).unwrap();
    assert!(project.unasked("cat link").await.unwrap().contains("No such file"));
}

#[tokio::test]
async fn other_processes_are_neither_seen_nor_signalled() {
    if !has_sandbox() {
        return;
    }
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let project = Project::new(Shell::new());
    let answer = script(&project, &format!("kill -9 {}; ls /proc/{}", other.id(), other.id())).await;
    assert!(answer.contains("No such process") && other.try_wait().unwrap().is_none(), "{answer}");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[tokio::test]
async fn the_network_is_reached_only_if_the_application_allows_it() {
    if !has_sandbox() || !fs::exists("/bin/bash").unwrap() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{}'", listener.local_addr().unwrap().port());
    let answer = script(&Project::new(Shell::new()), &connect).await;
    assert!(answer.starts_with("exit status: 1"), "{answer}");
    let answer = script(&Project::new(Shell::new().network()), &connect).await;
    assert!(answer.starts_with("exit status: 0"), "{answer}");
}

#[tokio::test]
async fn an_unapproved_command_cannot_change_the_project() {
    if !has_sandbox() {
        return;
    }
    // The file system refuses what a configuration of git would run.
    let project = Project::new(Shell::new());
    fs::write(project.root().join(".git/config"), "[core]\nfsmonitor = touch owned\n").unwrap();
    fs::write(project.root().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir_all(project.root().join(".git/objects")).unwrap();
    fs::create_dir_all(project.root().join(".git/refs")).unwrap();
    project.unasked("git status").await.unwrap();
    assert!(!project.root().join("owned").exists());
}

#[tokio::test]
async fn an_allowed_command_may_change_the_project_without_approval() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new().allow("touch"));
    project.unasked("touch b").await.unwrap();
    assert!(project.root().join("b").exists());
}

#[tokio::test]
async fn options_of_git_that_write_or_run_need_approval() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    for command in [
        "git diff --output=b",
        "git log --outp=b",
        "git show --ext-diff",
        "git diff --textconv",
        "git -c a=b status",
        "git push",
    ] {
        assert!(project.needs_approval(command).await, "{command}");
    }
}

#[tokio::test]
async fn repositories_in_folders_of_the_project_are_protected_too() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    fs::create_dir_all(project.root().join("libs/inner/.git/hooks")).unwrap();
    script(&project, "echo x > libs/inner/.git/hooks/post-checkout; echo y > libs/inner/file").await;
    assert!(!project.root().join("libs/inner/.git/hooks/post-checkout").exists());
    assert!(project.root().join("libs/inner/file").exists());
}

#[tokio::test]
async fn a_hidden_folder_can_be_read_if_the_application_allows_it() {
    if !has_sandbox() {
        return;
    }
    let tools = tempfile::tempdir().unwrap();
    fs::write(tools.path().join("tool.txt"), "a tool").unwrap();
    let read = format!("cat {}", tools.path().join("tool.txt").display());
    assert!(Project::new(Shell::new()).approved(&read).await.unwrap().contains("No such file"));
    let project = Project::new(Shell::new().readable(tools.path()).readable("/missing"));
    assert_eq!(project.approved(&read).await.unwrap(), "exit status: 0\nstdout:\na tool");
    let written = script(&project, &format!("echo x > {}", tools.path().join("tool.txt").display())).await;
    assert!(written.contains("Read-only file system"), "{written}");
}

#[tokio::test]
async fn system_calls_that_attack_a_kernel_fail() {
    if !has_sandbox() {
        return;
    }
    let project = Project::new(Shell::new());
    let answer = script(&project, "unshare --user true; unshare --mount true; mount -t tmpfs none /mnt").await;
    assert!(answer.matches("Operation not permitted").count() >= 2 || answer.contains("must be superuser"), "{answer}");
    let calls = "import ctypes, os\n\
                 libc = ctypes.CDLL(None, use_errno=True)\n\
                 for number in (101, 165, 272, 298, 310, 321, 323, 425):\n    \
                     result = libc.syscall(number, 0, 0, 0, 0, 0)\n    \
                     assert (result, ctypes.get_errno()) == (-1, 1), (number, result, ctypes.get_errno())\n";
    if cfg!(target_arch = "x86_64") && fs::exists("/usr/bin/python3").unwrap() {
        fs::write(project.root().join("calls.py"), calls).unwrap();
        assert_eq!(project.approved("/usr/bin/python3 calls.py").await.unwrap(), "exit status: 0");
    }
}
