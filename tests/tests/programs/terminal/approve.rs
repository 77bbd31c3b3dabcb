//! Approvals: which input answers a question.

use super::session::{Session, Terminal};
use super::{PROMPT, text, tool};

/// Starts a run that asks about its only call.
fn session_with_question() -> Session {
    let mut session = Session::start(&tool("send_all", r#"{"texts":["a"]}"#));
    session.wait_for(PROMPT);
    session
}

/// Asserts that the question is still open, by denying it.
fn assert_open(mut session: Session) {
    session.type_in("n\n");
    let (code, rows) = session.end();
    assert_eq!(code, Some(1), "{}", text(&rows));
    assert!(text(&rows).contains("denied"), "{}", text(&rows));
}

#[test]
fn a_line_that_was_typed_before_the_question_does_not_answer_it() {
    let mut terminal = Terminal::open();
    terminal.type_in("y\nyes\n");
    let mut session = terminal.start(&tool("send_all", r#"{"texts":["a"]}"#));
    session.wait_for(PROMPT);
    assert_open(session);
}

#[test]
fn an_unfinished_line_that_was_typed_before_the_question_is_dropped() {
    let mut terminal = Terminal::open();
    terminal.type_in("n");
    let mut session = terminal.start(&tool("send_all", r#"{"texts":["a"]}"#));
    session.wait_for(PROMPT);
    session.type_in("yes\n");
    assert_eq!(session.end().0, Some(0), "`nyes` is not an answer");
}

#[test]
fn lines_pasted_at_a_question_do_not_answer_the_next_one() {
    let mut session = Session::start(&tool("send_all", r#"{"texts":["a","b"]}"#));
    session.wait_for(PROMPT);
    session.type_in("y\ny\nyes\ns\n");
    session.wait_for(r#"send(text="b")"#);
    session.wait_for(PROMPT);
    assert_open(session);
}

#[test]
fn only_a_whole_word_approves() {
    let mut session = session_with_question();
    for line in
        ["ab", "a second line of the text", "yes please", "y, then", "session of today", "s s", "approve", "all"]
    {
        session.type_in(&format!("{line}\n"));
        session.wait_for(PROMPT);
    }
    session.type_in(" YES \n");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
    assert!(text(&rows).contains("sent a"), "{}", text(&rows));
}

#[test]
fn the_lines_of_a_pasted_text_are_not_the_arguments_of_an_edit() {
    let mut session = session_with_question();
    session.type_in("e\n{\"text\":\"b\"}\n");
    session.wait_for("New arguments as JSON on one line");
    session.type_in("\n");
    session.wait_for(PROMPT);
    assert_open(session);
}

#[test]
fn an_edit_is_typed_at_its_own_prompt() {
    let mut session = session_with_question();
    session.type_in("e\n");
    session.wait_for("(empty: go back): ");
    session.type_in("{\"text\":\"b\"}\n");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
    assert!(text(&rows).contains("sent b"), "{}", text(&rows));
}

#[test]
fn details_show_the_whole_call_and_ask_again() {
    let mut session = session_with_question();
    session.type_in("d\n");
    session.wait_for("called by: ");
    session.wait_for(PROMPT);
    session.type_in("y\n");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn the_end_of_the_input_denies() {
    let mut session = session_with_question();
    session.type_in("\u{4}");
    let (code, rows) = session.end();
    assert_eq!(code, Some(1));
    assert!(text(&rows).contains("the user closed the terminal"), "{}", text(&rows));
}

#[test]
fn a_terminal_that_is_closed_denies_and_the_run_ends() {
    assert_ne!(session_with_question().hang_up().code(), Some(0));
}

#[test]
fn an_interrupt_ends_the_run_while_a_question_is_open() {
    let session = session_with_question();
    session.interrupt();
    let (code, rows) = session.end();
    assert_eq!(code, Some(1));
    assert_eq!(rows.last().map(String::as_str), Some("error: aborted by user"), "on its own row");
}

#[test]
fn invisible_characters_are_shown_as_escapes() {
    let hidden = "\\u001b[2J\\u200b\\u202e\\ufeff\\udb40\\udc41\\u00ad\\u2028\\u3164";
    let mut session = Session::start(&tool("send_all", &format!(r#"{{"texts":["{hidden}"]}}"#)));
    session.wait_for(PROMPT);
    session.type_in("d\n");
    session.wait_for(PROMPT);
    let raw = session.raw();
    for (character, escape) in [
        ("\u{1b}[2J", r"\u001b[2J"),
        ("\u{200b}", r"\u{200b}"),
        ("\u{202e}", r"\u{202e}"),
        ("\u{feff}", r"\u{feff}"),
        ("\u{e0041}", r"\u{e0041}"),
        ("\u{ad}", r"\u{ad}"),
        ("\u{2028}", r"\u{2028}"),
        ("\u{3164}", r"\u{3164}"),
    ] {
        assert!(!raw.contains(character), "{escape} is shown as it is: {raw:?}");
        assert!(raw.contains(escape), "{escape} is not shown: {raw}");
    }
    assert_open(session);
}
