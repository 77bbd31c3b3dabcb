//! Reading a repository starts no program that it names.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use llm_do::toolsets::shell::Shell;

use super::{Project, sandboxes};

/// Configurations that start `./evil`, if git follows them.
const HOSTILE: &[&str] = &[
    "[core]\nfsmonitor = ./evil\n",
    "[core]\nhooksPath = hooks\n",
    "[core]\npager = ./evil\n",
    "[core] fsmonitor = ./evil\n",
    "[diff]\nexternal = ./evil\n",
    "[diff \"d\"]\ntextconv = ./evil\n",
    "[diff \"d\"]\ncommand = ./evil\n",
    "[filter \"f\"]\nclean = ./evil\nrequired\n",
    "[filter \"f\"]\nprocess = ./evil\n",
    "[pager]\nlog = ./evil\n",
    "[log]\nshowSignature = true\n[gpg]\nprogram = ./evil\n",
    "[format]\npretty = %G?\n[gpg]\nprogram = ./evil\n",
    "[include]\npath = ../included\n",
    "[includeIf \"gitdir:**\"]\npath = ../included\n",
    "[status]\nsubmoduleSummary = true\n",
    "[core]\nsshCommand = ./evil\n[extensions]\npartialClone = x\n[remote \"x\"]\nurl = ssh://x/x\npromisor = true\n",
    "[core]\nbare = false \\\nfsmonitor = ./evil\n",
    "\u{feff}[core]\nfsmonitor = ./evil\n",
    "[alias]\nstatus = !./evil\n",
    "[credential]\nhelper = !./evil\n",
];

fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(root).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.fsmonitor=false"]);
    assert!(command.args(arguments).output().unwrap().status.success(), "{arguments:?}");
}

/// Makes a repository with a change, and a program that leaves a trace in the output, since it can change no file.
fn repository(project: &Project) {
    let root = project.root();
    fs::remove_dir_all(root.join(".git")).unwrap();
    git(&root, &["init", "-q"]);
    fs::write(root.join("evil"), "#!/bin/sh\necho EVIL; echo EVIL >&2; touch owned\n").unwrap();
    fs::set_permissions(root.join("evil"), Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(root.join("hooks")).unwrap();
    fs::copy(root.join("evil"), root.join("hooks/post-index-change")).unwrap();
    fs::write(root.join(".gitattributes"), "*.txt diff=d filter=f\n").unwrap();
    fs::write(root.join("included"), "[core]\nfsmonitor = ./evil\n").unwrap();
    git(&root, &["add", "a.txt", ".gitattributes"]);
    git(&root, &["commit", "-qm", "first"]);
    fs::write(root.join("a.txt"), "two\none\nthree\n").unwrap();
}

#[tokio::test]
async fn reading_a_repository_starts_no_program_that_it_names() {
    for sandbox in sandboxes().await {
        for hostile in HOSTILE {
            let project = Project::new(Shell::new().sandbox(sandbox));
            repository(&project);
            let config = project.root().join(".git/config");
            let own = fs::read_to_string(&config).unwrap();
            fs::write(&config, if hostile.starts_with('\u{feff}') { (*hostile).to_owned() } else { own + hostile })
                .unwrap();
            for command in ["git status", "git status -v", "git diff", "git log -p", "git show"] {
                let result = project.unasked(command).await;
                let is_safe = match &result {
                    Ok(answer) => !answer.contains("\nEVIL") && answer.starts_with("exit status: 0"),
                    Err(error) => error.contains("denied"),
                };
                assert!(
                    is_safe && !project.root().join("owned").exists(),
                    "{sandbox:?}: {hostile}: {command}: {result:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_plain_repository_is_read_unasked() {
    for sandbox in sandboxes().await {
        let project = Project::new(Shell::new().sandbox(sandbox));
        repository(&project);
        for command in ["git status --short", "git diff", "git log --oneline -1", "git show --stat HEAD"] {
            let answer = project.unasked(command).await.unwrap();
            assert!(answer.starts_with("exit status: 0\nstdout:\n"), "{sandbox:?}: {command}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_committed_bare_repository_is_not_read() {
    for sandbox in sandboxes().await {
        let project = Project::new(Shell::new().sandbox(sandbox));
        let root = project.root();
        fs::remove_dir_all(root.join(".git")).unwrap();
        git(&root, &["init", "-q", "--bare", "."]);
        fs::write(root.join("evil"), "#!/bin/sh\necho EVIL >&2\n").unwrap();
        fs::set_permissions(root.join("evil"), Permissions::from_mode(0o755)).unwrap();
        let config = "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = ./evil\n";
        fs::write(root.join("config"), config).unwrap();
        let answer = project.unasked("git status").await.unwrap();
        assert!(answer.contains("not a git repository") && !answer.contains("EVIL"), "{sandbox:?}: {answer}");
    }
}

#[tokio::test]
async fn a_git_file_or_link_is_asked_about() {
    for sandbox in sandboxes().await {
        let project = Project::new(Shell::new().sandbox(sandbox));
        repository(&project);
        fs::rename(project.root().join(".git"), project.root().join("other")).unwrap();
        fs::write(project.root().join(".git"), "gitdir: other\n").unwrap();
        assert!(project.needs_approval("git status").await, "{sandbox:?}");
        fs::remove_file(project.root().join(".git")).unwrap();
        std::os::unix::fs::symlink("other", project.root().join(".git")).unwrap();
        assert!(project.needs_approval("git status").await, "{sandbox:?}");
    }
}

#[tokio::test]
async fn options_of_git_that_write_or_run_need_approval() {
    for sandbox in sandboxes().await {
        let project = Project::new(Shell::new().sandbox(sandbox));
        for command in [
            "git diff --output=b",
            "git log --outp=b",
            "git show --ext-diff",
            "git diff --textconv",
            "git -c a=b status",
            "git push",
        ] {
            assert!(project.needs_approval(command).await, "{sandbox:?}: {command}");
        }
    }
}
