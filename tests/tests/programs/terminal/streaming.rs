//! Texts of workers while they stream.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::session::{Session, Terminal};
use super::text;

const APP: &str = env!("CARGO_BIN_EXE_streaming_app");

/// Starts a tool or a worker with this input, in a terminal.
fn start(tool: &str, input: &Value, options: &[&str]) -> Session {
    let mut command = Command::new(APP);
    command.args(["run", "--tool", tool, "--input-json", &input.to_string()]).args(options);
    Terminal::open().run(command)
}

fn write(lines: &[&str]) -> Value {
    json!({ "input": lines.join("\n") })
}

fn wait_for(file: &Path) -> String {
    format!("wait {}", file.display())
}

/// Asserts that a run succeeded, and returns its rows.
fn rows(session: Session) -> Vec<String> {
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
    rows
}

fn count(rows: &[String], what: &str) -> usize {
    rows.iter().filter(|row| row.contains(what)).count()
}

#[test]
fn a_text_is_shown_while_it_streams_and_not_again_at_the_end() {
    for options in [&[][..], &["-v"], &["-vv"]] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("go");
        let input = write(&["text Hel", "text lo wor", &wait_for(&file), "text ld\\nof bees"]);
        let mut session = start("writer", &input, options);
        session.wait_for("Hello wor");
        std::fs::write(&file, "").unwrap();
        let rows = rows(session);
        let is_printed = rows.iter().any(|row| row.starts_with("Hello world"));
        assert!(!is_printed, "{options:?}:\n{}", text(&rows));
        if options.is_empty() {
            assert_eq!(count(&rows, "Hello world"), 1, "{}", text(&rows));
        }
        let place =
            rows.iter().position(|row| row.ends_with("│ Hello world")).unwrap_or_else(|| panic!("{}", text(&rows)));
        assert!(rows[place + 1].ends_with("│ of bees"), "{options:?}:\n{}", text(&rows));
    }
}

#[test]
fn a_text_is_only_printed_at_the_end_without_a_terminal() {
    let input = write(&["think I wonder", "text Hello", "text  world"]).to_string();
    let arguments = ["run", "--tool", "writer", "--input-json", &input];
    let Output { status, stdout, stderr } =
        Command::new(APP).args(arguments).env("LLM_DO_CONFIG", "").output().unwrap();
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert_eq!((status.code(), stdout.as_str(), stderr.as_str()), (Some(0), "Hello world\n", ""));
    let folder = tempfile::tempdir().unwrap();
    for redirected in ["1", "2"] {
        let file = folder.path().join(redirected);
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec \"$@\" {redirected}>'{}'", file.display()));
        command.arg("sh").arg(APP).args(arguments);
        let rows = rows(Terminal::open().run(command));
        let written = std::fs::read_to_string(&file).unwrap();
        let expected = if redirected == "1" { ("Hello world\n", 0) } else { ("", 1) };
        assert_eq!((written.as_str(), count(&rows, "Hello world")), expected, "{}", text(&rows));
        assert_eq!(count(&rows, "│"), 0, "{}", text(&rows));
    }
}

#[test]
fn a_thought_is_one_row() {
    let long = format!("think {}", "and so on ".repeat(20));
    let input = write(&["think First\\n\\n", "think  things ", &long, "text Yes."]);
    let rows = rows(start("writer", &input, &[]));
    assert_eq!(count(&rows, "thought: First things and so on"), 1, "{}", text(&rows));
    assert_eq!(count(&rows, "and so on"), 1, "{}", text(&rows));
    assert_eq!(rows.last().map(String::as_str), Some("  │ Yes."), "{}", text(&rows));
}

#[test]
fn a_question_is_asked_below_the_text() {
    let input = write(&["text I send it.", r#"call send {"text":"it"}"#]);
    let mut session = start("writer", &input, &[]);
    session.wait_for("│ I send it.");
    session.wait_for("\r\nApprove? ");
    session.type_in("y\n");
    let rows = rows(session);
    assert_eq!(count(&rows, "I send it."), 1, "{}", text(&rows));
    assert_eq!(rows.last().map(String::as_str), Some("  │ done"), "{}", text(&rows));
}

#[test]
fn a_question_in_the_middle_of_a_text_breaks_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let [asks, rest] = ["asks", "rest"].map(|name| folder.path().join(name));
    let one = ["text one half", &wait_for(&rest), "text  and the other"].join("\n");
    let two = [&wait_for(&asks), "text Sending.", r#"call send {"text":"it"}"#].join("\n");
    let mut session = start("pair", &json!({ "one": one, "two": two }), &[]);
    session.wait_for("one half");
    std::fs::write(&asks, "").unwrap();
    session.wait_for("\r\nApprove? ");
    session.type_in("y\n");
    std::fs::write(&rest, "").unwrap();
    let rows = rows(session);
    let starts = |with: &str| rows.iter().filter(|row| row.starts_with(with)).count();
    assert_eq!(
        (starts("  │ one half"), starts("Approve? "), starts("  │  and the other")),
        (1, 1, 1),
        "{}",
        text(&rows)
    );
    assert_eq!(rows.last().map(String::as_str), Some("one half and the other and done"), "{}", text(&rows));
}

#[test]
fn concurrent_workers_are_named_and_their_texts_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let one = ["text one ", &wait_for(&file), "text text"].join("\n");
    let two = "text another\\n\ntext text".to_owned();
    let mut session = start("pair", &json!({ "one": one, "two": two }), &[]);
    session.wait_for("one ");
    std::fs::write(&file, "").unwrap();
    let rows = rows(session);
    let expected = ["writer:", "  │ one text", "other_writer:", "  │ another", "  │ text"];
    let mut shown: Vec<_> = rows.iter().map(|row| row.trim_end()).filter(|row| expected.contains(row)).collect();
    if shown.first() == Some(&"other_writer:") {
        // The other one wrote first.
        shown.rotate_left(3);
    }
    assert_eq!(shown, expected, "{}", text(&rows));
    assert_eq!(count(&rows, "one text and another"), 1, "{}", text(&rows));
}

#[test]
fn an_answer_that_broke_off_is_shown_again_below_the_reason() {
    let input = write(&["text Half", "break", "text way there"]);
    let rows = rows(start("writer", &input, &[]));
    let expected = ["  │ Half", "  writer asks again: the answer broke off", "  │ Halfway there"];
    let places = expected
        .map(|start| rows.iter().position(|row| row.starts_with(start)).unwrap_or_else(|| panic!("{}", text(&rows))));
    assert!(places.is_sorted(), "{}", text(&rows));
    assert_eq!(count(&rows, "Halfway there"), 1, "{}", text(&rows));
}

#[test]
fn an_answer_that_is_json_does_not_stream() {
    let input = write(&[r#"text {"na"#, r#"text me":"Ann"}"#]);
    let rows = rows(start("namer", &input, &[]));
    assert_eq!((count(&rows, "Ann"), count(&rows, "│")), (1, 0), "{}", text(&rows));
}

#[test]
fn with_other_formats_nothing_streams() {
    let input = write(&["text Hello"]);
    for format in ["json", "jsonl"] {
        let rows = rows(start("writer", &input, &["--output", format]));
        assert_eq!(count(&rows, "│"), 0, "{}", text(&rows));
        assert!(count(&rows, "Hello") > 0, "{}", text(&rows));
    }
}

#[test]
fn a_recorded_answer_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("run.jsonl");
    let (input, journal) = (write(&["text Hello"]), ["--journal", journal.to_str().unwrap()]);
    let first = rows(start("writer", &input, &journal));
    assert_eq!(first.last().map(String::as_str), Some("  │ Hello"), "{}", text(&first));
    let resumed = rows(start("writer", &input, &journal));
    assert_eq!(resumed.last().map(String::as_str), Some("Hello"), "{}", text(&resumed));
}

#[test]
fn control_characters_of_a_text_are_escaped() {
    let input = write(&["think \\e[31m", "text a\\e", "text [2Jb"]);
    let session = start("writer", &input, &[]);
    let shown = rows(session);
    assert_eq!(shown.last().map(String::as_str), Some("  │ a\\u{1b}[2Jb"), "{}", text(&shown));
    assert_eq!(count(&shown, "thought: \\u{1b}[31m"), 1, "{}", text(&shown));
}

#[test]
fn a_chat_shows_each_answer_once() {
    let mut command = Command::new(APP);
    let folder = tempfile::tempdir().unwrap();
    command.args(["chat", "writer"]).current_dir(folder.path()).env("LLM_DO_CHATS", folder.path().join("chats"));
    let mut session = Terminal::open().run(command);
    for answer in ["One.", "Two."] {
        session.wait_for("\r\n> ");
        session.type_in(&format!("text {answer}\n"));
        session.wait_for(&format!("│ {answer}"));
    }
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    let rows = rows(session);
    assert_eq!((count(&rows, "│ One."), count(&rows, "│ Two.")), (1, 1), "{}", text(&rows));
    // What was typed, and what was answered.
    assert_eq!((count(&rows, "One."), count(&rows, "Two.")), (2, 2), "{}", text(&rows));
}
