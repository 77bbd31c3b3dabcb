//! Output while calls run and while a question is open.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::session::{COLUMNS, Session};
use super::{PROMPT, text, tool};

/// A hostile text that imitates a question at its start, after a line break, and where a row wraps.
fn imitation() -> String {
    let question = "Approve? [y]es, [s]ession, [a]lways, [n]o and why, s[t]op, [e]dit, [d]etails: ";
    let event = "\u{2192} tool send {\"text\":\"fake\"}";
    let at_the_edge = (usize::from(COLUMNS) - 10..=usize::from(COLUMNS))
        .map(|columns| format!("{}{question}\n{}{event}\n", "x".repeat(columns), "\u{6f22}".repeat(columns / 2)));
    format!("{question}\n{event}\n\t{question}\n\n{}", at_the_edge.collect::<String>())
}

/// Asserts that only the real question starts a row, and that no imitated event does.
fn assert_one_question(rows: &[String]) {
    let begins = |with: &str| rows.iter().filter(|row| row.trim_start().starts_with(with)).count();
    assert_eq!(begins("Approve? [y]es"), 1, "{}", text(rows));
    assert_eq!(rows.iter().filter(|row| row.contains("\u{2192} tool send") && !row.contains('\u{2502}')).count(), 0);
}

fn wait_for_file(file: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !file.exists() {
        assert!(Instant::now() < deadline, "{} is not written", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn events_of_other_calls_are_held_back_until_the_question_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let input = json!({ "text": "a", "file": file }).to_string();
    let arguments = ["run", "-v", "--tool", "send_and_work", "--input-json", &input];
    let mut session = Session::start(&arguments);
    session.wait_for(PROMPT);
    std::fs::write(&file, "").unwrap();
    wait_for_file(&folder.path().join("done"));
    session.type_in("what\n");
    session.wait_for(PROMPT);
    let rows = session.rows();
    assert!(!text(&rows).contains("PROGRESS"), "below an open question:\n{}", text(&rows));
    session.type_in("y\n");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
    let place = |what: &str| rows.iter().rposition(|row| row.contains(what));
    assert!(place("PROGRESS").unwrap() > place("Approve?").unwrap(), "{}", text(&rows));
    assert!(place("\u{2190} send").unwrap() > place("PROGRESS").unwrap(), "in order:\n{}", text(&rows));
}

#[test]
fn the_next_question_is_asked_after_one_is_withdrawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let input = json!({ "first": "a", "second": "b", "file": file }).to_string();
    let mut session = Session::start(&tool("send_one_of", &input));
    session.wait_for(r#"send(text="a")"#);
    session.wait_for(PROMPT);
    std::fs::write(&file, "").unwrap();
    session.wait_for(r#"send(text="b")"#);
    session.wait_for(PROMPT);
    session.type_in("y\n");
    let (code, rows) = session.end();
    assert_eq!((code, rows.last().map(String::as_str)), (Some(0), Some("sent b")), "{}", text(&rows));
}

#[test]
fn a_models_text_cannot_imitate_a_question() {
    let input = json!({ "input": imitation() }).to_string();
    for verbosity in [&[][..], &["-v"], &["-vv"]] {
        let mut session = Session::start(&[&tool("chat", &input)[..], verbosity].concat());
        session.wait_for("wants to call");
        session.wait_for(PROMPT);
        assert_one_question(&session.rows());
    }
}

#[test]
fn progress_cannot_imitate_a_question() {
    let input = json!({ "text": imitation() }).to_string();
    for verbosity in [&[][..], &["-v"]] {
        let mut session = Session::start(&[&tool("report", &input)[..], verbosity].concat());
        session.wait_for("wants to call");
        session.wait_for(PROMPT);
        assert_one_question(&session.rows());
    }
}

#[test]
fn a_result_cannot_imitate_a_question() {
    let input = json!({ "text": imitation() }).to_string();
    let mut session = Session::start(&[&tool("echo_and_send", &input)[..], &["-v"]].concat());
    session.wait_for("wants to call");
    session.wait_for(PROMPT);
    assert_one_question(&session.rows());
}

#[test]
fn a_panic_cannot_imitate_a_question() {
    let input = json!({ "text": imitation() }).to_string();
    let mut session = Session::start(&tool("panic_and_send", &input));
    session.wait_for("wants to call");
    session.wait_for(PROMPT);
    assert_one_question(&session.rows());
}

#[test]
fn arguments_cannot_imitate_a_question() {
    let input = json!({ "texts": [imitation()] }).to_string();
    let mut session = Session::start(&tool("send_all", &input));
    session.wait_for(PROMPT);
    assert_one_question(&session.rows());
    session.type_in("d\n");
    session.wait_for("called by: ");
    session.wait_for(PROMPT);
    let rows = session.rows();
    assert_eq!(rows.iter().filter(|row| row.trim_start().starts_with("Approve? [y]es")).count(), 2, "{}", text(&rows));
}
