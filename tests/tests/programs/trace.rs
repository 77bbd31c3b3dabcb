//! `trace`: logs as trees, differences and pages.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn app(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    command.args(arguments).env("LLM_DO_CONFIG", "").env_remove("COLUMNS").stdin(Stdio::null());
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs an entry that writes with approval, and returns the path of its log.
fn log(folder: &Path, name: &str, prompt: &str, options: &[&str]) -> String {
    let path = folder.join(name).display().to_string();
    let output = app(&[&["run", "--events", &path], options, &[prompt]].concat());
    assert!(path.ends_with(name) && Path::new(&path).exists(), "{output:?}");
    path
}

#[test]
fn a_log_is_printed_as_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.jsonl", "Ann", &["--approve-all"]);
    let output = app(&["trace", &path]);
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("run ") && lines[1].trim_start().starts_with("time"), "{text}");
    assert!(
        lines[2].starts_with("main_entry")
            && lines.iter().any(|line| line.starts_with("├─ ") || line.starts_with("└─ ")),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "no colours without a terminal: {text}");
    assert!(lines.iter().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn a_denied_call_is_shown_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.jsonl", "Ann", &["--reject-all"]);
    let text = stdout(&app(&["trace", &path]));
    assert!(text.contains("? denied by the approval mode") && text.contains("✗ refused: "), "{text}");
}

#[test]
fn a_log_is_printed_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.jsonl", "Ann", &["--approve-all"]);
    let trace: Value = serde_json::from_str(&stdout(&app(&["trace", &path, "--output", "json"]))).unwrap();
    assert_eq!(trace["runs"][0]["name"], "main_entry");
    assert_eq!(trace["runs"][0]["status"], "finished");
}

#[test]
fn a_faulty_line_is_an_error_after_the_tree_and_a_torn_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.jsonl", "Ann", &["--approve-all"]);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"torn")).unwrap();
    let output = app(&["trace", &path]);
    assert!(output.status.success() && stdout(&output).contains("the last line is incomplete"), "{output:?}");
    std::fs::write(&path, format!("nonsense\n{text}")).unwrap();
    let output = app(&["trace", &path]);
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(error.contains("run.jsonl: line 1: invalid JSON") && stdout(&output).contains("main_entry"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn two_logs_are_compared_call_by_call() {
    let folder = tempfile::tempdir().unwrap();
    let ann = log(folder.path(), "ann.jsonl", "Ann", &["--approve-all"]);
    let eve = log(folder.path(), "eve.jsonl", "Ben", &["--approve-all"]);
    let again = stdout(&app(&["trace", "diff", &ann, &ann]));
    assert_eq!(again, "no call differs\n");
    let text = stdout(&app(&["trace", "diff", &ann, &eve]));
    assert!(text.contains("~ main_entry") && text.contains("\"Ann\"") && text.contains("\"Ben\""), "{text}");
    let json: Value = serde_json::from_str(&stdout(&app(&["trace", "diff", &ann, &eve, "--output", "json"]))).unwrap();
    assert_eq!(
        (&json["calls"][0]["kind"], &json["calls"][0]["changes"][0]["part"]),
        (&"changed".into(), &"arguments".into())
    );
}

#[test]
fn a_page_is_one_file_and_never_replaces_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path(), "run.jsonl", "Ann", &["--approve-all", "--content"]);
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"content\":{\"kept\":0"));
    let page = folder.path().join("run.html").display().to_string();
    let output = app(&["trace", &path, "--html", &page]);
    assert!(output.status.success(), "{output:?}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("main_entry"));
    let output = app(&["trace", &path, "--html", &path]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with('{'));
}

#[cfg(unix)]
#[test]
fn events_pages_and_journals_are_written_through_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let events = log(folder.path(), "run.jsonl", "Ann", &["--approve-all"]);
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (precious, missing, link) = (file("precious"), file("missing"), file("link"));
    std::fs::write(&precious, "mine").unwrap();
    for target in [&precious, &missing] {
        std::os::unix::fs::symlink(target, &link).unwrap();
        let commands: [&[&str]; 3] = [
            &["trace", &events, "--html", &link],
            &["run", "--approve-all", "--events", &link, "Ann"],
            &["run", "--approve-all", "--journal", &link, "Ann"],
        ];
        for command in commands {
            let output = app(command);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && error.contains(": it is a link to "), "{command:?}: {error}");
        }
        std::fs::remove_file(&link).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
    assert!(!Path::new(&missing).exists());
}

#[cfg(unix)]
#[test]
fn a_page_is_written_to_a_stream_and_not_to_a_pipe_of_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let events = log(folder.path(), "run.jsonl", "Ann", &["--approve-all"]);
    let output = app(&["trace", &events, "--html", "/dev/stdout"]);
    assert!(output.status.success() && stdout(&output).starts_with("<!doctype html>"), "{output:?}");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = app(&["trace", &events, "--html", pipe.to_str().unwrap()]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("not a file: a pipe"), "{error}");
}

#[test]
fn content_is_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let run = |content: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
        let command = command.args(["run", "--approve-all", "--events"]).arg(&path).arg("Ann").stdin(Stdio::null());
        assert!(command.env("LLM_DO_CONFIG", "").env("LLM_DO_CONTENT", content).output().unwrap().status.success());
        std::fs::read_to_string(&path).unwrap().contains("\"kept\":")
    };
    assert!(run("true") && !run("false"));
}
