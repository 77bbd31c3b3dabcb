//! Changes of repositories that are hard to notice, and commands that would run beside each other.

use std::fs::{self, File};
use std::time::Duration;

use llm_do::toolsets::shell::{Sandbox, Shell};
use rustix::fs::{FlockOperation, flock};

use super::{Project, sandboxes};

/// Adds a repository without `.git`, which no sandbox makes read-only, and a script.
fn prepare(project: &Project, script: &str) {
    let root = project.root();
    for folder in ["bare/objects", "bare/refs", "bare/hooks", "bare/info", "bare/worktrees/zz"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    let files = [("bare/HEAD", "x"), ("bare/config", "[core]\n  x = 1\n"), ("bare/worktrees/zz/config.worktree", "")];
    for (file, text) in files.into_iter().chain([("run.sh", script)]) {
        fs::write(root.join(file), text).unwrap();
    }
}

async fn projects(settings: Shell, script: &str) -> Vec<(Sandbox, Project)> {
    let project = |sandbox| {
        let project = Project::new(settings.clone().sandbox(sandbox));
        prepare(&project, script);
        (sandbox, project)
    };
    sandboxes().await.into_iter().map(project).collect()
}

#[tokio::test]
async fn a_command_that_closes_its_streams_is_killed_and_checked() {
    let plant = "echo x > bare/hooks/update; exec 1>&- 2>&-; ";
    let settings = Shell::new().timeout(Duration::from_secs(3)).max_processes(40);
    for (lines, end) in [
        ("sleep 30", "took longer than 3s"),
        ("for n in $(seq 100); do sleep 30 & done; wait", "had more than 40 processes"),
    ] {
        let script = format!("{plant}{lines}");
        for (sandbox, project) in projects(settings.clone(), &script).await {
            let error = project.approved("sh run.sh").await.unwrap_err();
            assert!(error.contains("bare/hooks/update") && error.contains(end), "{sandbox:?}: {error}");
        }
        let project = Project::new(settings.clone().sandbox(Sandbox::Off));
        prepare(&project, &script);
        let answer = project.approved("sh run.sh").await.unwrap();
        assert!(answer.contains(end), "{answer}");
    }
}

#[tokio::test]
async fn a_change_that_sets_no_time_fails_the_call() {
    if !fs::exists("/usr/bin/python3").unwrap() || !fs::exists("/dev/shm").unwrap() {
        return;
    }
    let text = "import mmap, os\nfile = os.open('bare/config', os.O_RDWR)\nmemory = mmap.mmap(file, 0)\nmemory[0:6] = b'[cure]'\n";
    for sandbox in sandboxes().await {
        let project = Project::with_folder(tempfile::tempdir_in("/dev/shm").unwrap(), Shell::new().sandbox(sandbox));
        prepare(&project, "");
        fs::write(project.root().join("run.py"), text).unwrap();
        let error = project.approved("/usr/bin/python3 run.py").await.unwrap_err();
        assert!(error.contains("changed: `bare/config`"), "{sandbox:?}: {error}");
    }
}

#[tokio::test]
async fn a_change_of_a_repository_beyond_those_that_are_mounted_fails_the_call() {
    if !fs::exists("/usr/bin/python3").unwrap() || !fs::exists("/dev/shm").unwrap() {
        return;
    }
    let text = "import mmap, os\nfile = os.open('a/b/c/zz/.git/config', os.O_RDWR)\nmemory = mmap.mmap(file, 0)\nmemory[0:6] = b'[cure]'\n";
    for sandbox in sandboxes().await {
        let project = Project::with_folder(tempfile::tempdir_in("/dev/shm").unwrap(), Shell::new().sandbox(sandbox));
        for folder in (0..300).map(|n| format!("a/{n}/.git")).chain(["a/b/c/zz/.git".to_owned()]) {
            fs::create_dir_all(project.root().join(&folder)).unwrap();
            fs::write(project.root().join(folder).join("config"), "[core]\n").unwrap();
        }
        fs::write(project.root().join("run.py"), text).unwrap();
        let error = project.approved("/usr/bin/python3 run.py").await.unwrap_err();
        assert!(error.contains("changed: `a/b/c/zz/.git/config`"), "{sandbox:?}: {error}");
    }
}

#[tokio::test]
async fn a_cancelled_command_is_checked_by_the_next_call() {
    let script = "echo x > bare/hooks/update; echo > started; sleep 1000";
    for (sandbox, project) in projects(Shell::new(), script).await {
        let started = async {
            while !project.root().join("started").exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            answer = project.approved("sh run.sh") => panic!("it ended: {answer:?}"),
            () = started => {}
        }
        let error = project.approved("touch b").await.unwrap_err();
        assert!(error.contains("cancelled") && error.contains("bare/hooks/update"), "{sandbox:?}: {error}");
        assert!(!project.root().join("b").exists(), "{sandbox:?}");
        assert!(project.approved("touch b").await.is_ok(), "it is reported once");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_read_fails_the_calls_until_it_can() {
    // No path is longer than 4096 bytes, not for root either.
    let long = format!("for n in $(seq 30); do mkdir {0} && cd {0}; done", "x".repeat(200));
    let is_root = rustix::process::geteuid().is_root();
    for script in [Some(long.as_str()), (!is_root).then_some("mkdir closed; chmod 000 closed")].into_iter().flatten() {
        for (sandbox, project) in projects(Shell::new(), script).await {
            let error = project.approved("bash run.sh").await.unwrap_err();
            assert!(error.contains("cannot be checked"), "{sandbox:?}: {error}");
            let error = project.approved("touch b").await.unwrap_err();
            assert!(error.contains("cannot be read") && !project.root().join("b").exists(), "{sandbox:?}: {error}");
            if !is_root && script != long {
                let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                fs::set_permissions(project.root().join("closed"), open).unwrap();
                assert!(project.approved("touch b").await.is_ok(), "{sandbox:?}");
            }
        }
    }
}

#[tokio::test]
async fn changes_of_hooks_and_configuration_are_listed_first() {
    let script = "for n in $(seq 30); do echo > bare/info/$n; done; echo x > bare/worktrees/zz/config.worktree";
    for (sandbox, project) in projects(Shell::new(), script).await {
        let error = project.approved("sh run.sh").await.unwrap_err();
        assert!(error.contains("changed: `bare/worktrees/zz/config.worktree`"), "{sandbox:?}: {error}");
        assert!(error.contains("and 11 more, 0 of them hooks"), "{sandbox:?}: {error}");
    }
}

#[tokio::test]
async fn a_command_waits_for_one_of_another_process() {
    for (sandbox, project) in projects(Shell::new(), "").await {
        for (folder, command) in [
            (project.root(), "touch b"),
            (project.outer.path().to_owned(), "touch b"),
            (project.outer.path().to_owned(), "cat a.txt"),
        ] {
            // As another process locks its working directory.
            let other = File::open(&folder).unwrap();
            flock(&other, FlockOperation::LockExclusive).unwrap();
            let mut call = Box::pin(project.approved(command));
            let early = tokio::time::timeout(Duration::from_millis(700), &mut call).await;
            assert!(early.is_err(), "{sandbox:?}: {folder:?}: {early:?}");
            drop(other);
            assert!(call.await.unwrap().starts_with("exit status: 0"), "{sandbox:?}");
        }
    }
}
