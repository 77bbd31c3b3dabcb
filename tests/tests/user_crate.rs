//! User crates: with llm-do as the only dependency, in each edition, with llm-do renamed, and with a library of tools.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;
use std::process::Command;

/// What each program prints for the argument `Os`.
const PRINTED: [(&str, &str); 5] = [
    ("alone", "Oslo Some(8)\n"),
    ("edition_2018", "Oslo Some(8) 2018\n"),
    ("edition_2021", "Oslo Some(8) 2021\n"),
    ("renamed", "Oslo Some(8) renamed\n"),
    ("uses_tools", "2 5 2\n"),
];

#[test]
fn user_crates_of_all_kinds_can_use_every_macro() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = tests.parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    copy(&tests.join("fixtures/users"), folder.path(), workspace.join("llm-do").to_str().unwrap());
    // The workspace's versions: they are on this machine already.
    std::fs::copy(workspace.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    // The workspace's, so that dependencies are built once.
    let target = workspace.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into()));

    let build = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_PROFILE_DEV_DEBUG", std::env::var("CARGO_PROFILE_DEV_DEBUG").unwrap_or("line-tables-only".into()))
        .output()
        .unwrap();

    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    for (program, printed) in PRINTED {
        // Their entries declare workers that use the run's model.
        let program_path = target.join("debug").join(program);
        let output = Command::new(program_path).args(["run", "Os"]).env("LLM_DO_MODEL", "test:any").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{program}: {errors}");
        assert!(output.status.success(), "{program}: {errors}");
    }
}

/// Copies a folder, with the path of llm-do in its manifests.
fn copy(from: &Path, to: &Path, llm_do: &str) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to, llm_do);
        } else {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            std::fs::write(to, text.replace("LLM_DO_PATH", llm_do)).unwrap();
        }
    }
}
