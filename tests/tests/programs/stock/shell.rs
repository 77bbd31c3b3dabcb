//! The tool `shell` in a process of its own: how it finds programs, and what is left when the process is killed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::Place;

/// Writes a program that is a script.
fn program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns `PATH` with one more folder, the first.
fn path_with(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_folder_of_programs_that_a_command_can_make_lead_elsewhere_is_not_used() {
    let place = Place::new(&[("a.txt", "plain\n"), (".venv/readme", "")]);
    let [outside, links] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    for name in ["bwrap", "cat", "sh"] {
        program(&outside.path().join(name), &format!("touch {}/ran", outside.path().display()));
    }
    symlink(outside.path(), place.path().join(".venv/bin")).unwrap();
    symlink(place.path().join(".venv/bin"), links.path().join("bin")).unwrap();
    symlink(place.path(), links.path().join("project")).unwrap();
    for folder in [
        place.path().join(".venv/bin"),
        place.path().join(".venv/../.venv/bin"),
        links.path().join("bin"),
        links.path().join("project/.venv/bin"),
    ] {
        let command = ["run", "--reject-all", "--tool", "shell", "--command", "cat a.txt"];
        let answer = place.run_in(&[("PATH", &path_with(&folder))], &command);
        assert!(!outside.path().join("ran").exists(), "{}: {answer:?}", folder.display());
    }
}

#[test]
fn a_sandboxed_command_ends_when_the_program_is_killed() {
    let script = "trap '' HUP TERM\nn=0\nwhile [ $n -lt 400 ]; do n=$((n+1)); echo >> alive; sleep 0.05; done\n";
    let broken = tempfile::tempdir().unwrap();
    program(&broken.path().join("bwrap"), "exit 1");
    let usual = std::env::var("PATH").unwrap();
    for (name, path) in [("bwrap", usual), ("landlock", path_with(broken.path()))] {
        let place = Place::new(&[("run.sh", script)]);
        let probe = ["run", "--reject-all", "--tool", "shell", "--command", "cat run.sh"];
        let answer = place.run_in(&[("PATH", &path)], &probe);
        if answer.code != Some(0) {
            // A reading command is asked about where no sandbox works.
            crate::required::missing(name, &format!("no sandbox works here: {answer:?}"));
            continue;
        }
        let mut command = place.command(env!("CARGO_BIN_EXE_stock"));
        command.args(["run", "--approve-all", "--tool", "shell", "--command", "sh run.sh"]).env("PATH", &path);
        let mut program = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let size = || fs::metadata(place.path().join("alive")).map_or(0, |metadata| metadata.len());
        for _ in 0..200 {
            std::thread::sleep(Duration::from_millis(50));
            if size() > 0 {
                break;
            }
        }
        program.kill().unwrap();
        program.wait().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let before = size();
        std::thread::sleep(Duration::from_millis(500));
        assert!(before > 0 && size() == before, "{name}: the command ran, and runs no longer");
    }
}
