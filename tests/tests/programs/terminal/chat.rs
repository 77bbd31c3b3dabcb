//! Conversations in a terminal.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::session::{Session, Terminal};
use super::{PROMPT, text};

const WORKER: &str = "---\nname: assistant\nmodel: echo:model\ntools: [filesystem_project]\n---\nYou help.\n";

/// Starts a chat in a new project.
fn chat(folder: &TempDir) -> Session {
    fs::write(folder.path().join("main.worker"), WORKER).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stock"));
    command.arg("chat").current_dir(folder.path()).env("LLM_DO_CHATS", folder.path().join("chats"));
    Terminal::open().run(command)
}

#[test]
fn a_pasted_text_of_several_lines_is_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("with `assistant`; /help lists the commands");
    session.wait_for("\r\n> ");
    session.type_in("one\ntwo\n");
    session.wait_for("echo 1: one");
    session.wait_for("\r\n> ");
    session.type_in("three\n");
    session.wait_for("echo 3: three");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.wait_for("to continue: chat --resume ");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn the_user_is_asked_about_a_change_and_the_chat_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for(PROMPT);
    session.type_in("y\n");
    session.wait_for("result: ");
    session.wait_for("\r\n> ");
    assert_eq!(fs::read_to_string(folder.path().join("b.txt")).unwrap(), "b");
    session.type_in("\u{4}");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn an_approval_for_always_is_a_rule_in_a_file_that_the_user_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for(PROMPT);
    session.type_in("a\n");
    session.wait_for("each later call with exactly these arguments:");
    session.wait_for("\"content\": \"b\"");
    session.wait_for("Write it to which file? [policy.json] (n: go back): ");
    session.type_in("n\n");
    session.wait_for(PROMPT);
    session.type_in("a\n");
    session.wait_for("(n: go back): ");
    session.type_in("allowed.json\n");
    session.wait_for("written to allowed.json; to use it, give --policy allowed.json");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();

    let written = fs::read_to_string(folder.path().join("allowed.json")).unwrap();
    assert_eq!(written.matches("pre_approved").count(), 1, "{written}");
    let run = |content: &str| {
        let call = format!("call write_file {{\"path\":\"b.txt\",\"content\":\"{content}\"}}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_stock"));
        command.args(["run", "--policy", "allowed.json", &call]).current_dir(folder.path());
        command.stdin(std::process::Stdio::null()).output().unwrap()
    };
    assert!(run("b").status.success(), "without a terminal, by the rule");
    assert!(!run("c").status.success(), "other arguments need approval");
}
