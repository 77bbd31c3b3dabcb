//! Runs every program under `ui/pass`; cargo builds them before the tests.
#![warn(clippy::pedantic)]

use std::path::Path;
use std::process::Command;

#[test]
fn valid_programs_compile_and_run() {
    let built = Path::new(env!("CARGO_BIN_EXE_forms-empty")).parent().expect("a folder");
    let mut failures = Vec::new();
    for group in entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/pass")) {
        let programs = entries(&group).filter(|file| file.extension().is_some_and(|end| end == "rs"));
        for program in programs {
            let name = format!("{}-{}", name(&group), name(&program));
            failures.extend(failure(&built.join(&name)).map(|failure| format!("{name}: {failure}")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs a program; returns why it failed, if it did.
fn failure(program: &Path) -> Option<String> {
    match Command::new(program).output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
        Err(error) => Some(format!("{error}: is it listed in `bin` of Cargo.toml?")),
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path())
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|name| name.to_str()).expect("a name in UTF-8")
}
