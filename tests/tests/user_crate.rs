//! A user's crate needs no crate but llm-do.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;
use std::process::Command;

#[test]
fn a_crate_that_depends_on_llm_do_alone_uses_every_macro() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workspace = tests.parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fixture = tests.join("fixtures/user_crate");
    let manifest = std::fs::read_to_string(fixture.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("LLM_DO_PATH", workspace.join("llm-do").to_str().unwrap());
    std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    // The workspace's versions: they are on this machine already.
    std::fs::copy(workspace.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::copy(fixture.join("src/main.rs"), folder.path().join("src/main.rs")).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--", "run", "Os"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", workspace.join("target/user_crate"))
        .output()
        .unwrap();

    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Oslo Some(8)\n", "{errors}");
}
